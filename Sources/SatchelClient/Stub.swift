enum ClientStub {}
