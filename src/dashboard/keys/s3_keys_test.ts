import { assertEquals } from "@std/assert";
import { s3Settings } from "./s3_keys.tsx";

Deno.test("The variables of S3 clients have the key, and the endpoint if it is known", () => {
  const key = { access_key_id: "KVA", secret_access_key: "secret" };
  const lines = "AWS_ACCESS_KEY_ID=KVA\nAWS_SECRET_ACCESS_KEY=secret";
  assertEquals(s3Settings(key, null), lines);
  const endpoint = "http://127.0.0.1:9000";
  assertEquals(s3Settings(key, endpoint), `AWS_ENDPOINT_URL_S3=${endpoint}\n${lines}`);
});
