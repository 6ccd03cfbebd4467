import { delay } from "@std/async/delay";
import { rawRequest } from "../../support/raw.ts";
import { Connection } from "./peer_connection.ts";

/** Sends single bytes, each after a pause in milliseconds, until the server hangs up. */
export async function trickle(connection: Connection, text: string, pause: number): Promise<void> {
  for (const character of text) {
    await delay(pause);
    if (!await connection.send(character)) return;
  }
}

/** An upload that has begun and now depends on its sender. */
export async function beginUpload(
  port: number,
  target: string,
  announced: number,
  sent = "",
): Promise<Connection> {
  const connection = await Connection.open(port);
  const headers = { "Content-Length": String(announced) };
  await connection.send(rawRequest("POST", target, headers, sent));
  return connection;
}

/** A download whose reader took the first bytes and then stopped. */
export async function beginDownload(port: number, target: string): Promise<Connection> {
  const connection = await Connection.open(port);
  await connection.send(rawRequest("GET", target));
  await connection.read();
  return connection;
}

/** The memory that a process has in use, in bytes; `undefined` where the system does not tell. */
export async function residentBytes(pid: number): Promise<number | undefined> {
  try {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const match = /^VmRSS:\s+(\d+) kB$/m.exec(status);
    return match === null ? undefined : Number(match[1]) * 1024;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
