import type { OpenServer, OpenServerOptions } from "./library.ts";
import { openServer } from "./open_server.ts";

export const PROJECT = "p1";
export const KEY = `${PROJECT}_0123456789abcdefghijABCDEFGHIJ`;
export const TOKEN = "0123456789abcdefghijABCDEFGHIJ";

/** Runs a test with a temporary folder. */
export async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a test with a server on a temporary folder. */
export async function withServer(
  options: OpenServerOptions,
  test: (server: OpenServer) => Promise<void>,
): Promise<void> {
  await withFolder(async (data) => {
    await using server = await openServer({ data, projectKey: KEY, adminToken: TOKEN, ...options });
    await test(server);
  });
}

/** Sends a request with the project key, and reads the response. */
export async function send(
  { fetch }: OpenServer,
  method: string,
  path: string,
  { body, headers = {}, host = "kv.example" }: {
    body?: BodyInit;
    headers?: Record<string, string>;
    host?: string;
  } = {},
): Promise<{ status: number; headers: Headers; text: string }> {
  const init = { method, headers: { "X-Api-Key": KEY, ...headers }, ...body && { body } };
  const response = await fetch(new Request(`http://${host}${path}`, init));
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export const FILES = `/v1/${PROJECT}/d/files`;
