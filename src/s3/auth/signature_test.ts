import { assertEquals, assertRejects } from "@std/assert";
import { type S3Code, S3Error } from "../s3_error.ts";
import { SigningKeys } from "./signing_key.ts";
import {
  EMPTY_HASH,
  EXAMPLE_ID,
  EXAMPLE_TIME,
  exampleLookup,
  presignedRequest,
  signedRequest,
} from "./test_support.ts";
import { type RawRequest, verifySignature } from "./signature.ts";

const MINUTE = 60_000;

async function refusal(request: RawRequest, code: S3Code, now = EXAMPLE_TIME): Promise<S3Error> {
  const error = await assertRejects(() => verifySignature(request, exampleLookup, now), S3Error);
  assertEquals(error.code, code, error.message);
  return error;
}

/** A request of the documentation, with its signature. */
function example(
  { method = "GET", path = "/", query = "" }: { method?: string; path?: string; query?: string },
  headers: Record<string, string>,
  signature: string,
): RawRequest {
  const lines = {
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-content-sha256": EMPTY_HASH,
    "x-amz-date": "20130524T000000Z",
    ...headers,
  };
  const names = Object.keys(lines).sort().join(";");
  return {
    method,
    path,
    query,
    headers: new Headers({
      ...lines,
      authorization:
        `AWS4-HMAC-SHA256 Credential=${EXAMPLE_ID}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
    }),
  };
}

const EXAMPLES = {
  "GET object": example(
    { path: "/test.txt" },
    { range: "bytes=0-9" },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ),
  "PUT object": example(
    { method: "PUT", path: "/test$file.text" },
    {
      "date": "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
      "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ),
  "GET bucket lifecycle": example(
    { query: "lifecycle" },
    {},
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ),
  "list objects": example(
    { query: "max-keys=2&prefix=J" },
    {},
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ),
};

for (const [name, request] of Object.entries(EXAMPLES)) {
  Deno.test(`the documentation's example is accepted: ${name}`, async () => {
    const verified = await verifySignature(request, exampleLookup, EXAMPLE_TIME);
    assertEquals(verified.key, "a key");
    assertEquals(verified.accessKeyId, EXAMPLE_ID);
    assertEquals(verified.isPresigned, false);
    assertEquals(verified.payload.kind, "signed");
  });
}

const PRESIGNED: RawRequest = {
  method: "GET",
  path: "/test.txt",
  query:
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${EXAMPLE_ID}%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
  headers: new Headers({ host: "examplebucket.s3.amazonaws.com" }),
};

Deno.test("the documentation's example is accepted: presigned URL", async () => {
  const verified = await verifySignature(PRESIGNED, exampleLookup, EXAMPLE_TIME);
  assertEquals(verified.isPresigned, true);
  assertEquals(verified.payload, { kind: "unsigned" });
});

Deno.test("a changed method, path, query, host, header or signature is refused", async () => {
  const request = EXAMPLES["list objects"];
  const withHeader = (name: string, value: string) => {
    const headers = new Headers(request.headers as Headers);
    headers.set(name, value);
    return { ...request, headers };
  };
  const authorization = (request.headers as Headers).get("authorization") ?? "";
  const changed: RawRequest[] = [
    { ...request, method: "PUT" },
    { ...request, path: "/x" },
    { ...request, path: "//" },
    { ...request, path: "/." },
    { ...request, query: "max-keys=2&prefix=j" },
    { ...request, query: "max-keys=2&prefix=J&prefix=J" },
    { ...request, query: "max-keys=2" },
    withHeader("host", "other.s3.amazonaws.com"),
    withHeader("x-amz-date", "20130524T000001Z"),
    withHeader("x-amz-content-sha256", "UNSIGNED-PAYLOAD"),
    withHeader("authorization", authorization.replace("us-east-1", "us-east-2")),
    withHeader("authorization", authorization.replace(/.$/, "8")),
  ];
  for (const other of changed) await refusal(other, "SignatureDoesNotMatch");
  const error = await refusal({ ...request, method: "PUT" }, "SignatureDoesNotMatch");
  assertEquals(error.status, 403);
  assertEquals(error.details["AWSAccessKeyId"], EXAMPLE_ID);
  assertEquals(error.details["StringToSign"]?.split("\n")[2], "20130524/us-east-1/s3/aws4_request");
});

Deno.test("paths and queries are signed in one encoding, however they were sent", async () => {
  const signed = signedRequest({ path: "/a%20b/%C3%A4+%2B~%2a", query: "b=%2f&a=x%20y&c" });
  for (
    const [path, query] of [
      ["/%61 b/%c3%a4%2B+%7e*", "c=&a=x+y&b=/"],
      ["/a%20b/\u00c3\u00a4+%2B~*", "&&a=x%20y&c&b=%2F"],
    ]
  ) {
    const request = { ...signed, path: path ?? "", query: query ?? "" };
    await verifySignature(request, exampleLookup, EXAMPLE_TIME);
  }
});

Deno.test("parameters are in the order of their names, then of their values", async () => {
  const signed = signedRequest({ query: "a=2&a-b=1&a=10&A=0" });
  const sorted = { ...signed, query: "A=0&a=10&a=2&a-b=1" };
  await verifySignature(sorted, exampleLookup, EXAMPLE_TIME);
});

Deno.test("values of headers are signed without outer spaces, and with single spaces inside", async () => {
  const signed = signedRequest({
    headers: { "x-amz-meta-a": " x   y\tz  ", "x-amz-meta-b": "\u00a0" },
  });
  const headers = [...signed.headers].map(([name, value]) =>
    [name.toUpperCase(), name === "x-amz-meta-a" ? "x y z" : value] as const
  );
  await verifySignature({ ...signed, headers }, exampleLookup, EXAMPLE_TIME);
});

Deno.test("the values of a repeated header are signed joined by commas", async () => {
  const signed = signedRequest({ headers: { "x-amz-meta-a": "1,2" } });
  const headers = [...signed.headers].filter(([name]) => name !== "x-amz-meta-a")
    .concat([["x-amz-meta-a", "1"], ["x-amz-meta-a", "2"]]);
  await verifySignature({ ...signed, headers }, exampleLookup, EXAMPLE_TIME);
});

Deno.test("without x-amz-date, the header Date has the time", async () => {
  const signed = signedRequest();
  const others = [...signed.headers].filter(([name]) => name !== "x-amz-date");
  for (const date of ["Fri, 24 May 2013 00:00:00 GMT", "20130524T000000Z"]) {
    // The signature covers the time, not the header.
    const headers = [...others, ["date", date] as const];
    await refusal({ ...signed, headers }, "SignatureDoesNotMatch");
  }
  await refusal({ ...signed, headers: others }, "AccessDenied");
  await refusal({ ...signed, headers: [...others, ["x-amz-date", "today"]] }, "AccessDenied");
  const dated = signedRequest({
    headers: { date: "Fri, 24 May 2013 00:00:00 GMT" },
    signedHeaders: "date;host;x-amz-content-sha256",
  });
  const headers = [...dated.headers].filter(([name]) => name !== "x-amz-date");
  await verifySignature({ ...dated, headers }, exampleLookup, EXAMPLE_TIME);
});

Deno.test("the clocks may differ by 15 minutes", async () => {
  for (const skew of [-15 * MINUTE, 15 * MINUTE]) {
    const now = EXAMPLE_TIME + skew;
    await verifySignature(signedRequest(), exampleLookup, now);
    const error = await refusal(signedRequest(), "RequestTimeTooSkewed", now + Math.sign(skew));
    assertEquals(error.details["RequestTime"], "20130524T000000Z");
    assertEquals(error.details["MaxAllowedSkewMilliseconds"], "900000");
  }
});

Deno.test("any region is accepted, another service or day is not", async () => {
  for (const region of ["eu-central-1", "auto", "local_1"]) {
    const request = signedRequest({ scope: `20130524/${region}/s3/aws4_request` });
    await verifySignature(request, exampleLookup, EXAMPLE_TIME);
  }
  const scopes = [
    "20130524/us-east-1/ec2/aws4_request",
    "20130524/us-east-1/s3/aws4",
    "20130523/us-east-1/s3/aws4_request",
    "20130524//s3/aws4_request",
    "20130524/us-east-1/s3",
  ];
  for (const scope of scopes) {
    await refusal(signedRequest({ scope }), "AuthorizationHeaderMalformed");
  }
});

Deno.test("the host and all headers x-amz-… must be signed", async () => {
  const names = "x-amz-content-sha256;x-amz-date";
  const unsigned = await refusal(signedRequest({ signedHeaders: names }), "AccessDenied");
  assertEquals(unsigned.details["HeadersNotSigned"], "host");
  const added = signedRequest();
  const headers = [...added.headers, ["X-Amz-Acl", "public-read"] as const];
  const error = await refusal({ ...added, headers }, "AccessDenied");
  assertEquals(error.details["HeadersNotSigned"], "x-amz-acl");
  const others = [...added.headers, ["content-type", "text/plain"] as const];
  await verifySignature({ ...added, headers: others }, exampleLookup, EXAMPLE_TIME);
});

Deno.test("requests without a signature, with two and with other kinds are refused", async () => {
  const base = { method: "GET", path: "/", query: "" };
  const of = (authorization: string) => ({ ...base, headers: Object.entries({ authorization }) });
  await refusal({ ...base, headers: [] }, "AccessDenied");
  await refusal(of("AWS AKID:frJIUN8DYpKDtOLCwo//yllqDzg="), "InvalidRequest");
  await refusal(of("AWS4-ECDSA-P256-SHA256 Credential=x"), "InvalidRequest");
  await refusal(of("Bearer abc"), "InvalidArgument");
  const version2 = "AWSAccessKeyId=AKID&Signature=x&Expires=1";
  await refusal({ ...base, query: version2, headers: [] }, "InvalidRequest");
  const { query } = presignedRequest();
  await refusal({ ...of("AWS4-HMAC-SHA256 x"), query }, "InvalidArgument");
  await refusal({ ...of("AWS4-HMAC-SHA256 x"), query: version2 }, "InvalidArgument");
});

Deno.test("a malformed header is refused", async () => {
  const headers = new Map(signedRequest().headers);
  const authorization = headers.get("authorization") ?? "";
  const changes: [string | RegExp, string][] = [
    ["Credential", "credential"],
    [/,Signature=.*/, ""],
    ["Credential=", "Credential=a, Credential="],
    ["Signature=", "More=1, Signature="],
    ["host;", "host;host;"],
    ["host;", "Host;"],
    ["host;", "host;;"],
    [`${EXAMPLE_ID}/`, ""],
    [`${EXAMPLE_ID}/`, "a/b/"],
    [/ .*/, ""],
  ];
  for (const [from, to] of changes) {
    const changed = new Map(headers).set("authorization", authorization.replace(from, to));
    const request = { method: "GET", path: "/", query: "", headers: changed };
    await refusal(request, "AuthorizationHeaderMalformed");
  }
});

Deno.test("a malformed signature is refused like a wrong one", async () => {
  for (const end of ["", "g"]) {
    const headers = signedRequest().headers;
    const changed = [...headers].map(([name, value]) =>
      [name, name === "authorization" ? value.replace(/.$/, end) : value] as const
    );
    const request = { method: "GET", path: "/", query: "", headers: changed };
    await refusal(request, "SignatureDoesNotMatch");
  }
});

Deno.test("unknown keys, session tokens and broken encodings are refused", async () => {
  const { headers } = signedRequest();
  const request = { method: "GET", path: "/", query: "", headers };
  const other = [...headers].map(([name, value]) =>
    [name, value.replace(EXAMPLE_ID, "KVUNKNOWN")] as const
  );
  const error = await refusal({ ...request, headers: other }, "InvalidAccessKeyId");
  assertEquals(error.details["AWSAccessKeyId"], "KVUNKNOWN");
  await refusal(signedRequest({ headers: { "x-amz-security-token": "t" } }), "InvalidToken");
  await refusal(presignedRequest({ "X-Amz-Security-Token": "t" }), "InvalidToken");
  await refusal({ ...request, path: "/%zz" }, "InvalidURI");
  await refusal({ ...request, query: "a=%" }, "InvalidURI");
});

Deno.test("a presigned URL is valid from 15 minutes before its date until it expires", async () => {
  const request = presignedRequest({ "X-Amz-Expires": "3600" });
  for (const offset of [-15, 0, 60]) {
    await verifySignature(request, exampleLookup, EXAMPLE_TIME + offset * MINUTE);
  }
  await refusal(request, "AccessDenied", EXAMPLE_TIME - 15 * MINUTE - 1);
  const expired = await refusal(request, "AccessDenied", EXAMPLE_TIME + 60 * MINUTE + 1);
  assertEquals(expired.message, "Request has expired");
  assertEquals(expired.details["Expires"], "2013-05-24T01:00:00Z");
});

Deno.test("malformed presigned URLs are refused", async () => {
  const wrong: Record<string, string>[] = [
    { "X-Amz-Expires": "604801" },
    { "X-Amz-Expires": "0" },
    { "X-Amz-Expires": "-1" },
    { "X-Amz-Expires": "ten" },
    { "X-Amz-Date": "2013-05-24" },
    { "X-Amz-Date": "20130523T000000Z" },
    { "X-Amz-Algorithm": "AWS4-HMAC-SHA1" },
    { "X-Amz-Credential": "x" },
    { "X-Amz-SignedHeaders": "" },
  ];
  for (const parameters of wrong) {
    await refusal(presignedRequest(parameters), "AuthorizationQueryParametersError");
  }
  const { query, ...rest } = presignedRequest();
  for (
    const other of [
      query.replace(/&X-Amz-Signature=.*/, ""),
      `${query}&X-Amz-Expires=1`,
      query.replace("X-Amz-Date=20130524T000000Z&", ""),
    ]
  ) {
    await refusal({ ...rest, query: other }, "AuthorizationQueryParametersError");
  }
  await refusal({ ...rest, query: `${query}&more` }, "SignatureDoesNotMatch");
  await refusal(presignedRequest({}, { "x-amz-acl": "private" }), "AccessDenied");
});

Deno.test("the payload is what x-amz-content-sha256 says", async () => {
  const kinds: [string, unknown][] = [
    ["UNSIGNED-PAYLOAD", { kind: "unsigned" }],
    ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD", { kind: "chunked", signed: true, trailer: false }],
    ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", {
      kind: "chunked",
      signed: true,
      trailer: true,
    }],
    ["STREAMING-UNSIGNED-PAYLOAD-TRAILER", { kind: "chunked", signed: false, trailer: true }],
    ["AB".repeat(32), { kind: "signed", sha256: "ab".repeat(32) }],
  ];
  for (const [value, payload] of kinds) {
    const request = signedRequest({ headers: { "x-amz-content-sha256": value } });
    const verified = await verifySignature(request, exampleLookup, EXAMPLE_TIME);
    assertEquals(verified.payload, payload as typeof verified.payload);
    assertEquals(verified.signing !== undefined, value.startsWith("STREAMING-AWS4"));
  }
  const other = (value: string) => signedRequest({ headers: { "x-amz-content-sha256": value } });
  await refusal(other("abc"), "InvalidArgument");
  await refusal(other("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"), "NotImplemented");
  const { headers, ...rest } = signedRequest();
  const without = [...headers].filter(([name]) => name !== "x-amz-content-sha256");
  await refusal({ ...rest, headers: without }, "InvalidRequest");
});

Deno.test("signing keys are cached by secret, day and region, and their number is bounded", () => {
  const keys = new SigningKeys();
  const scope = { day: "20130524", region: "us-east-1" };
  const key = keys.derive("secret", scope);
  assertEquals(keys.derive("secret", scope) === key, true);
  const others = [
    keys.derive("other", scope),
    keys.derive("secret", { ...scope, day: "20130525" }),
    keys.derive("secret", { ...scope, region: "eu-west-1" }),
  ];
  assertEquals(new Set([key, ...others].map(String)).size, 4);
  for (let i = 0; i < 1024; i++) keys.derive(`secret ${i}`, scope);
  assertEquals(keys.derive("secret", scope) === key, false);
  assertEquals(keys.derive("secret", scope), key);
});

Deno.test("the error for a wrong signature repeats what was signed, but no headers that a proxy may have added", async () => {
  const range = signedRequest({ headers: { range: "bytes=0-9" } });
  const shown = await refusal({ ...range, path: "/other" }, "SignatureDoesNotMatch");
  assertEquals(shown.details["CanonicalRequest"]?.split("\n")[1], "/other");
  const secret = signedRequest({ headers: { "x-origin-secret": "from-the-proxy" } });
  const hidden = await refusal({ ...secret, path: "/other" }, "SignatureDoesNotMatch");
  assertEquals(JSON.stringify(hidden.details).includes("from-the-proxy"), false);
});
