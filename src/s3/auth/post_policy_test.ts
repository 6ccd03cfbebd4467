import { assertEquals, assertRejects } from "@std/assert";
import { type S3Code, S3Error } from "../s3_error.ts";
import { verifyPostPolicy } from "./post_policy.ts";
import { sign, SigningKeys } from "./signing_key.ts";
import { EXAMPLE_ID, EXAMPLE_SECRET, exampleLookup } from "./test_support.ts";

const NOW = Date.UTC(2015, 11, 29, 1);
const CREDENTIAL = `${EXAMPLE_ID}/20151229/us-east-1/s3/aws4_request`;
const BUCKET = "sigv4examplebucket";

const BASE: Record<string, string> = {
  "x-amz-algorithm": "AWS4-HMAC-SHA256",
  "x-amz-credential": CREDENTIAL,
  "x-amz-date": "20151229T000000Z",
};
const BASE_CONDITIONS = Object.entries(BASE).map(([name, value]) => ({ [name]: value }));

type Fields = Record<string, string | undefined>;

function verify(fields: Fields, now = NOW): ReturnType<typeof verifyPostPolicy<string>> {
  const present = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]]
  );
  const form = { fields: new Map(present), bucket: BUCKET };
  return verifyPostPolicy(form, exampleLookup, now);
}

/** The fields of a form with a signed policy. */
function signed(policy: string, fields: Fields = {}): Fields {
  const scope = { day: "20151229", region: "us-east-1" };
  const key = new SigningKeys().derive(EXAMPLE_SECRET, scope);
  const base64 = btoa(policy);
  return { ...BASE, policy: base64, "x-amz-signature": sign(key, base64), ...fields };
}

function form(conditions: unknown[], fields: Fields = {}): Fields {
  const all = [...BASE_CONDITIONS, ...conditions];
  return signed(
    JSON.stringify({ expiration: "2015-12-30T12:00:00.000Z", conditions: all }),
    fields,
  );
}

async function refusal(fields: Fields, code: S3Code, now = NOW): Promise<S3Error> {
  const error = await assertRejects(() => verify(fields, now), S3Error);
  assertEquals(error.code, code, error.message);
  return error;
}

/** The policy of the documentation, whose lines end with carriage return and line feed. */
const EXAMPLE = `{ "expiration": "2015-12-30T12:00:00.000Z",
  "conditions": [
    {"bucket": "sigv4examplebucket"},
    ["starts-with", "$key", "user/user1/"],
    {"acl": "public-read"},
    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},
    ["starts-with", "$Content-Type", "image/"],
    {"x-amz-meta-uuid": "14365123651274"},
    {"x-amz-server-side-encryption": "AES256"},
    ["starts-with", "$x-amz-meta-tag", ""],

    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},
    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},
    {"x-amz-date": "20151229T000000Z" }
  ]
}`.replaceAll("\n", "\r\n");

const EXAMPLE_FIELDS: Fields = {
  ...BASE,
  key: "user/user1/photo.png",
  acl: "public-read",
  success_action_redirect: "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html",
  "content-type": "image/jpeg",
  "x-amz-meta-uuid": "14365123651274",
  "x-amz-server-side-encryption": "AES256",
  "x-amz-meta-tag": "",
  policy: btoa(EXAMPLE),
  "x-amz-signature": "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e",
};

Deno.test("the documentation's example of a form is accepted", async () => {
  const verified = await verify(EXAMPLE_FIELDS);
  assertEquals(verified, { key: "a key", accessKeyId: EXAMPLE_ID, size: undefined });
});

Deno.test("a form with a changed policy, signature, date or credential is refused", async () => {
  const changes: [Fields, S3Code][] = [
    [{ policy: btoa(`${EXAMPLE} `) }, "SignatureDoesNotMatch"],
    [{ "x-amz-signature": "0".repeat(64) }, "SignatureDoesNotMatch"],
    [{ "x-amz-signature": "8afd" }, "SignatureDoesNotMatch"],
    [{ "x-amz-date": "20151228T000000Z" }, "AuthorizationQueryParametersError"],
    [{ "x-amz-date": "now" }, "InvalidArgument"],
    [{ "x-amz-algorithm": "AWS4" }, "InvalidArgument"],
    [{ "x-amz-credential": CREDENTIAL.replace("us-", "eu-") }, "SignatureDoesNotMatch"],
    [{ "x-amz-credential": CREDENTIAL.replace("AKIA", "AKIB") }, "InvalidAccessKeyId"],
    [{ "x-amz-credential": undefined }, "InvalidArgument"],
    [{ "x-amz-signature": undefined }, "AccessDenied"],
    [{ policy: undefined }, "AccessDenied"],
    [{ awsaccesskeyid: EXAMPLE_ID }, "InvalidRequest"],
    [{ "x-amz-security-token": "t" }, "InvalidToken"],
  ];
  for (const [change, code] of changes) await refusal({ ...EXAMPLE_FIELDS, ...change }, code);
});

Deno.test("a policy is valid until it expires", async () => {
  const end = Date.UTC(2015, 11, 30, 12);
  await verify(EXAMPLE_FIELDS, end - 1);
  const error = await refusal(EXAMPLE_FIELDS, "AccessDenied", end);
  assertEquals(error.message, "Invalid according to Policy: Policy expired");
});

Deno.test("every field must be covered by a condition that holds", async () => {
  const changes: Fields[] = [
    { key: "user/user2/photo.png" },
    { key: undefined },
    { acl: "private" },
    { "content-type": "text/html" },
    { "content-type": "image/png, text/html" },
    { "x-amz-meta-uuid": undefined },
    { "x-amz-meta-other": "x" },
  ];
  for (const change of changes) await refusal({ ...EXAMPLE_FIELDS, ...change }, "AccessDenied");
  await verify({ ...EXAMPLE_FIELDS, "x-ignore-me": "x", "content-type": "image/png, image/gif" });
  const other = form([{ bucket: "another" }]);
  const error = await refusal(other, "AccessDenied");
  assertEquals(
    error.message,
    'Invalid according to Policy: Policy Condition failed: ["eq","$bucket","another"]',
  );
});

Deno.test("a policy must name the bucket: otherwise its form would be valid for all buckets", async () => {
  const conditions = [["starts-with", "$key", "a"]];
  const error = await refusal(form(conditions, { key: "abc" }), "AccessDenied");
  assertEquals(error.message, "Invalid according to Policy: Extra input fields: bucket");
  await verify(form([...conditions, ["starts-with", "$bucket", "sigv4"]], { key: "abc" }));
});

Deno.test("names of conditions and fields may be in any case", async () => {
  const conditions = [{ bUcKeT: BUCKET }, ["StArTs-WiTh", "$KeY", "a"], ["EQ", "$Acl", "x"]];
  await verify(form(conditions, { key: "abc", acl: "x" }));
});

Deno.test("the size that a policy allows is returned", async () => {
  const sizes = async (...ranges: unknown[][]) => {
    const conditions = ranges.map((range) => ["content-length-range", ...range]);
    return (await verify(form([{ bucket: BUCKET }, ...conditions]))).size;
  };
  assertEquals(await sizes(), undefined);
  assertEquals(await sizes([1, 10]), { min: 1, max: 10 });
  assertEquals(await sizes([0, 10], ["5", "20"]), { min: 5, max: 10 });
});

Deno.test("invalid policies are refused", async () => {
  const policies = [
    "",
    "[]",
    "{",
    "\xff",
    '{"conditions":[]}',
    '{"expiration":"2015-12-30","conditions":[]}',
    '{"expiration":"2015-12-30T12:00:00.000Z"}',
    '{"expiration":"2015-12-30T12:00:00.000Z","conditions":{}}',
  ];
  for (const policy of policies) await refusal(signed(policy), "InvalidPolicyDocument");
  const conditions = [
    1,
    [],
    { acl: 1 },
    {},
    { key: "a", acl: "private" },
    ["eq", "key", "x"],
    ["eq", "$key"],
    ["eq", "$key", 1],
    ["ends-with", "$key", "x"],
    ["content-length-range", 1],
    ["content-length-range", -1, 5],
    ["content-length-range", 6, 5],
    ["content-length-range", 1.5, 5],
  ];
  for (const condition of conditions) await refusal(form([condition]), "InvalidPolicyDocument");
});
