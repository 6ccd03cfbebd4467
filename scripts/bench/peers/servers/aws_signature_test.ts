import { assertEquals } from "@std/assert";
import { signedHeaders } from "./aws_signature.ts";

Deno.test("signedHeaders() signs the example of the S3 documentation", async () => {
  const headers = await signedHeaders({
    method: "GET",
    url: "https://examplebucket.s3.amazonaws.com/?lifecycle",
    body: "",
    region: "us-east-1",
    accessKey: "AKIAIOSFODNN7EXAMPLE",
    secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    time: new Date("2013-05-24T00:00:00Z"),
  });
  assertEquals(headers["x-amz-date"], "20130524T000000Z");
  assertEquals(
    headers.Authorization,
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, " +
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date, " +
      "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  );
});
