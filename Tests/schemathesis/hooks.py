"""What the description can't say in JSON Schema, for schemathesis."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Answers have no more keys than are described: what is added has to be described too."""
    requests = {"JobRequest", "AttachmentRequest", "Trim", "Crop", "LeaseRequest", "LeaseRenewal", "GrantRequest"}
    for name, schema in raw_schema["components"]["schemas"].items():
        if name not in requests and name not in ("Payload", "Problem") and "properties" in schema:
            schema["additionalProperties"] = False
