"""What the description can't say in JSON Schema, for schemathesis."""

import schemathesis

# What the protocols of uploads call bytes.
for name in ("application/offset+octet-stream", "application/partial-upload"):
    schemathesis.serializer.alias(name, "application/octet-stream")


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Answers have no more keys than are described, and problems no other codes: what is added has to be described too."""
    requests = {
        "JobRequest", "JobUpload", "AttachmentRequest", "Trim", "LeaseRequest", "LeaseRenewal", "GrantRequest",
        "CategoryRequest",
    }
    for name, schema in raw_schema["components"]["schemas"].items():
        if name not in requests and name not in ("Payload", "Problem") and "properties" in schema:
            schema["additionalProperties"] = False
    for answer in answers(raw_schema):
        for content in answer.get("content", {}).values():
            if "x-item-schema" in content:
                content["schema"] = content.pop("x-item-schema")
                content.pop("example", None)
        if "x-codes" in answer:
            problem = answer["content"]["application/problem+json"]
            codes = {"properties": {"code": {"enum": answer["x-codes"]}}}
            problem["schema"] = {"allOf": [problem["schema"], codes]}


def answers(document):
    """All that are described, each once."""
    yield from document["components"]["responses"].values()
    for path in document["paths"].values():
        for operation in path.values():
            for answer in operation["responses"].values():
                if "$ref" not in answer:
                    yield answer
