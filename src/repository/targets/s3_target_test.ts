import { assertEquals } from "@std/assert";
import { openTarget } from "./open_target.ts";
import type { Target } from "./target.ts";

/** Answers to a request in place of those of a service. */
type Fault = (request: Request) => Response | undefined;

const HAS_CONDITION = (request: Request) => request.headers.has("if-none-match");

function refusal(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code></Error>`, { status });
}

/** Runs a test with a target in a service that keeps objects, and answers some requests with errors. */
async function withService(
  fault: Fault,
  test: (target: Target, objects: Map<string, Uint8Array>) => Promise<void>,
): Promise<void> {
  const objects = new Map<string, Uint8Array>();
  const options = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  const server = Deno.serve(options, async (request) => {
    const bytes = await request.bytes();
    const answer = fault(request);
    if (answer !== undefined) return answer;
    const { pathname } = new URL(request.url);
    if (request.method === "PUT") {
      if (HAS_CONDITION(request) && objects.has(pathname)) return refusal(412, "Precondition");
      objects.set(pathname, bytes);
    }
    return new Response();
  });
  const s3 = {
    endpoint: `http://127.0.0.1:${server.addr.port}`,
    region: "us-east-1",
    accessKeyId: "id",
    secretAccessKey: "secret",
  };
  try {
    await test(openTarget({ target: "s3://bucket/prefix", s3 }), objects);
  } finally {
    await server.shutdown();
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
    (request) => HAS_CONDITION(request) ? refusal(501, "NotImplemented") : undefined,
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
    const fault = () => refusals++ === 0 ? refusal(status, code) : undefined;
    await withService(fault, async (target) => {
      assertEquals(await target.put("config", Uint8Array.of(1), true), true);
      assertEquals(refusals, 2);
    });
  }
});
