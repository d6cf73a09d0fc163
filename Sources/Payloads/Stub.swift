enum PayloadStub {}
