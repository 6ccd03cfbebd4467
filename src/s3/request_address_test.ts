import { assertEquals, assertThrows } from "@std/assert";
import { assertNewBucketName, parseAddress } from "./request_address.ts";
import { S3Error } from "./s3_error.ts";

const DOMAIN = "s3.example.com";

const ADDRESSES: { url: string; host?: string; bucket: string; key: string }[] = [
  { url: "http://h/", bucket: "", key: "" },
  { url: "http://h", bucket: "", key: "" },
  { url: "http://h/?prefix=a/b", bucket: "", key: "" },
  { url: "http://h/photos", bucket: "photos", key: "" },
  { url: "http://h/photos/", bucket: "photos", key: "" },
  { url: "http://h/photos?list-type=2", bucket: "photos", key: "" },
  { url: "http://h/photos/a/../b//c", bucket: "photos", key: "a/../b//c" },
  { url: "http://h/photos/%2E%2e/%2Fa+b%20c", bucket: "photos", key: "..//a+b c" },
  { url: "http://h/photos/a%3Fb?c", bucket: "photos", key: "a?b" },
  { url: "http://h/Fotos%20von%20%C3%9C/a", bucket: "Fotos von Ü", key: "a" },
  { url: "http://h/a/b", host: "photos.s3.example.com", bucket: "photos", key: "a/b" },
  { url: "http://h/", host: "my.photos.S3.example.com:443", bucket: "my.photos", key: "" },
  { url: "http://h/photos/a", host: DOMAIN, bucket: "photos", key: "a" },
  { url: "http://h/photos/a", host: "evils3.example.com", bucket: "photos", key: "a" },
];

for (const { url, host = "h", bucket, key } of ADDRESSES) {
  Deno.test(`${url} at ${host} is the key "${key}" of the bucket "${bucket}"`, () => {
    const address = parseAddress(url, host, DOMAIN);
    assertEquals([address.bucket, address.key], [bucket, key]);
  });
}

Deno.test("Malformed encodings, bucket names and long keys are refused", () => {
  const codeOf = (url: string) =>
    assertThrows(() => parseAddress(url, "h", undefined), S3Error).code;
  assertEquals(codeOf("http://h/photos/%zz"), "InvalidURI");
  assertEquals(codeOf("http://h/photos/%ff"), "InvalidURI");
  for (const path of ["%20/a", "/photos/a", "/", "/?acl"]) {
    assertEquals(codeOf(`http://h/${path}`), "InvalidBucketName", path);
  }
  const nameless = () => parseAddress("http://h/a", `.${DOMAIN}`, DOMAIN);
  assertEquals(assertThrows(nameless, S3Error).code, "InvalidBucketName");
  assertEquals(codeOf("http://h/a%2Fb/c"), "InvalidBucketName");
  assertEquals(codeOf(`http://h/photos/${"a".repeat(1025)}`), "KeyTooLongError");
});

Deno.test("New buckets have the names that Amazon allows", () => {
  for (const name of ["abc", "a.b-c.1", "a".repeat(63)]) assertNewBucketName(name);
  for (const name of ["ab", "Abc", "a_b", "-abc", "abc.", "a..b", "192.168.1.1", "a".repeat(64)]) {
    assertThrows(() => assertNewBucketName(name), S3Error, "3 to 63");
  }
});
