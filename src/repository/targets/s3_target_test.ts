import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { openTarget } from "./open_target.ts";
import type { Target } from "./target.ts";

/** An answer in place of that of a service: a status, and the code of its error. */
type Fault = (request: http.IncomingMessage) => readonly [status: number, code: string] | undefined;

const hasCondition = ({ headers }: http.IncomingMessage) => headers["if-none-match"] !== undefined;

/** Runs a test with a target in a service that keeps objects, and answers some requests with errors. */
async function withService(
  fault: Fault,
  test: (target: Target, objects: Map<string, Uint8Array>) => Promise<void>,
): Promise<void> {
  const objects = new Map<string, Uint8Array>();
  const server = http.createServer(async (request, response) => {
    const bytes = new Uint8Array(Buffer.concat(await Array.fromAsync(request)));
    const { url = "" } = request;
    const isTaken = hasCondition(request) && objects.has(url);
    const [status, code] = fault(request) ?? (isTaken ? [412, "PreconditionFailed"] : [200, ""]);
    if (status === 200) objects.set(url, bytes);
    response.statusCode = status;
    response.end(code === "" ? "" : `<Error><Code>${code}</Code></Error>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const s3 = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "us-east-1",
    accessKeyId: "id",
    secretAccessKey: "secret",
  };
  try {
    await test(openTarget({ target: "s3://bucket/prefix", s3 }), objects);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

Deno.test("an object that must be new replaces none", () =>
  withService(() => undefined, async (target, objects) => {
    assertEquals(await target.put("config", Uint8Array.of(1), true), true);
    assertEquals(await target.put("config", Uint8Array.of(2), true), false);
    assertEquals([...objects], [["/bucket/prefix/config", Uint8Array.of(1)]]);
  }));

Deno.test("a service that knows no conditions is used without them", () =>
  withService(
    (request) => hasCondition(request) ? [501, "NotImplemented"] : undefined,
    async (target, objects) => {
      assertEquals(await target.put("config", Uint8Array.of(1), true), true);
      assertEquals([...objects], [["/bucket/prefix/config", Uint8Array.of(1)]]);
    },
  ));

Deno.test("a refusal that may pass is no failure", async () => {
  for (
    const [status, code] of [[409, "ConditionalRequestConflict"], [400, "RequestTimeout"]] as const
  ) {
    let refusals = 0;
    const fault = () => refusals++ === 0 ? [status, code] as const : undefined;
    await withService(fault, async (target) => {
      assertEquals(await target.put("config", Uint8Array.of(1), true), true);
      assertEquals(refusals, 2);
    });
  }
});
