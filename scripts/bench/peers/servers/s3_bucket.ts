import { equals } from "@std/bytes/equals";
import { assert } from "../../server.ts";
import type { S3Access } from "../peer.ts";
import type { Stored } from "../stored.ts";
import { S3Signer } from "./aws_signature.ts";

/** The bucket of the rows of S3. No caller may do anything there without a signature. */
const BUCKET = "/bench-s3";

/** Entries of the list that is measured. */
const LISTED = 1000;

/** Uploads at the same time. */
const AT_ONCE = 32;

/** What is requested. `{n}` stands for the name of a new object. */
export const s3Target = {
  small: `${BUCKET}/small`,
  large: `${BUCKET}/large`,
  new: `${BUCKET}/new/{n}`,
  list: `${BUCKET}?list-type=2&max-keys=${LISTED}&prefix=list%2F`,
} as const;

/** A server with S3 at its own address, and one key. */
export function s3Access(
  origin: string,
  accessKey: string,
  secretKey: string,
): S3Access {
  const credentials = { region: "us-east-1", accessKey, secretKey };
  return { origin, signer: new S3Signer(new URL(origin).host, credentials) };
}

/** Makes the bucket. */
export async function makeBucket(access: S3Access): Promise<void> {
  await send(access, 200, "PUT", BUCKET);
}

/** Stores the objects that are read, and makes sure that only signed requests get them, unchanged. */
export async function storeObjects(
  access: S3Access,
  { smallBytes, largeBytes }: Pick<Stored, "smallBytes" | "largeBytes">,
): Promise<void> {
  await makeBucket(access);
  for (
    const [target, bytes] of [[s3Target.small, smallBytes], [s3Target.large, largeBytes]] as const
  ) {
    await send(access, 200, "PUT", target, bytes);
    const answer = await send(access, 200, "GET", target);
    assert(equals(answer, bytes), `${target} has ${answer.byteLength} bytes, or others`);
  }
  await refusesOthers(access);
  await storeList(access, smallBytes);
}

async function refusesOthers(access: S3Access): Promise<void> {
  const { origin } = access;
  const unsigned = await fetch(origin + s3Target.small);
  await unsigned.body?.cancel();
  assert(unsigned.status === 403, `a GET without a signature answered ${unsigned.status}`);
  const url = `${s3Target.large}?x=1`;
  const headers = access.signer.sign({ method: "GET", target: s3Target.small, time: new Date() });
  const wrong = await fetch(origin + url, { headers });
  await wrong.body?.cancel();
  assert(wrong.status === 403, `a GET with a wrong signature answered ${wrong.status}`);
}

async function storeList(access: S3Access, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  let next = 0;
  const storeSome = async (): Promise<void> => {
    while (next < LISTED) {
      const name = String(next++).padStart(10, "0");
      await send(access, 200, "PUT", `${BUCKET}/list/${name}`, bytes);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, storeSome));
  const text = new TextDecoder().decode(await send(access, 200, "GET", s3Target.list));
  const keys = text.match(/<Key>list\/\d{10}<\/Key>/g) ?? [];
  assert(new Set(keys).size === LISTED, `a list has ${keys.length} keys`);
}

async function send(
  { origin, signer }: S3Access,
  status: number,
  method: string,
  target: string,
  body?: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const signed = signer.sign({ method, target, ...(body && { body }), time: new Date() });
  const response = await fetch(origin + target, { method, headers: signed, ...(body && { body }) });
  const answer = await response.bytes();
  if (response.status === status) return answer;
  const text = new TextDecoder().decode(answer.subarray(0, 500));
  throw new Error(`${method} ${target} answered ${response.status}, not ${status}: ${text}`);
}
