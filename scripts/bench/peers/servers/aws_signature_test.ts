import { assertEquals } from "@std/assert";
import { S3Signer } from "./aws_signature.ts";

const signer = new S3Signer("examplebucket.s3.amazonaws.com", {
  region: "us-east-1",
  accessKey: "AKIAIOSFODNN7EXAMPLE",
  secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
});
const time = new Date("2013-05-24T00:00:00Z");

Deno.test("S3Signer signs the examples of the S3 documentation", () => {
  const headers = signer.sign({ method: "GET", target: "/?lifecycle", time });
  assertEquals(headers["x-amz-date"], "20130524T000000Z");
  assertEquals(
    headers.Authorization,
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, " +
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date, " +
      "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  );
  const list = signer.sign({ method: "GET", target: "/?max-keys=2&prefix=J", time });
  assertEquals(
    list.Authorization.slice(-64),
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});

Deno.test("S3Signer signs the body, and each day with a key of its own", () => {
  const body = new TextEncoder().encode("Welcome to Amazon S3.");
  const request = { method: "PUT", target: "/a", body, time };
  const first = signer.sign(request);
  assertEquals(
    first["x-amz-content-sha256"],
    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
  );
  const later = signer.sign({ ...request, time: new Date("2013-05-25T00:00:00Z") });
  assertEquals(first === later, false);
  assertEquals(signer.sign(request), first);
});
