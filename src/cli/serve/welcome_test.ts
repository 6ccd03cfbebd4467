import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newProjectKey } from "../../rules/secrets.ts";
import type { Style } from "../terminal/text.ts";
import { type Start, startMessage, welcomeText } from "./welcome.ts";

const PLAIN: Style = { bold: (text) => text, dim: (text) => text };
const MARKED: Style = { bold: (text) => `<${text}>`, dim: (text) => `<${text}>` };

const projectKey = newProjectKey();
const START: Start = {
  address: "http://0.0.0.0:8000",
  appsAddress: "http://0.0.0.0:8001",
  s3Address: "http://0.0.0.0:9000",
  created: { projectKey, adminToken: "the-token" },
  curlFlags: "",
};

Deno.test("A welcome has the link that signs in, the secrets and what to do next", () => {
  const text = welcomeText({ ...START, code: "once_abc" }, { publicUrl: undefined }, PLAIN);
  for (
    const part of [
      "  http://127.0.0.1:8000/#code=once_abc\n",
      `Project key:           ${projectKey.text}\n`,
      "Administrator's token: the-token\n",
      "curl -X POST",
      "'http://127.0.0.1:8000/v1/",
      "kvdrive install",
      "Applications are at http://0.0.0.0:8001\n",
      "S3 is at http://0.0.0.0:9000\n",
    ]
  ) assertStringIncludes(text, part);
  assert(text.endsWith("\n"));
});

Deno.test("Links of a welcome use the address that clients use", () => {
  const publicUrl = "https://files.example.com";
  const text = welcomeText({ ...START, code: "once_abc" }, { publicUrl }, PLAIN);
  assertStringIncludes(text, "  https://files.example.com/#code=once_abc\n");
  const address = "http://[::]:9000";
  const other = welcomeText({ ...START, address, code: "c" }, { publicUrl: undefined }, PLAIN);
  assertStringIncludes(other, "  http://[::1]:9000/#code=c\n");
});

Deno.test("Without a code a welcome shows the dashboard and how to sign in", () => {
  const text = welcomeText({ ...START, code: undefined }, { publicUrl: undefined }, PLAIN);
  assertStringIncludes(text, "  http://127.0.0.1:8000/\n  Sign in with");
  assert(!text.includes("#code"), text);
});

Deno.test("Secrets and links have no formatting, so that they can be copied", () => {
  const text = welcomeText({ ...START, code: "once_abc" }, { publicUrl: undefined }, MARKED);
  assertStringIncludes(text, "<Welcome to kvdrive");
  const formatted = text.split("\n").filter((line) => line.includes("<"));
  const precious = /once_abc|the-token|curl/;
  assertEquals(formatted.filter((line) => precious.test(line)), []);
});

Deno.test("New credentials are shown with a first request, and nothing otherwise", () => {
  const projectKey = newProjectKey();
  assertEquals(startMessage({}, "http://127.0.0.1:8000", ""), "");
  const text = startMessage({ projectKey, adminToken: "token" }, "https://[::1]:1", "-k ");
  for (const part of [projectKey.text, "token", "curl -k -X POST", "https://[::1]:1/v1/"]) {
    assertStringIncludes(text, part);
  }
  const tokenOnly = startMessage({ adminToken: "token" }, "http://127.0.0.1:8000", "");
  assertEquals([tokenOnly.includes("token"), tokenOnly.includes("curl")], [true, false]);
});
