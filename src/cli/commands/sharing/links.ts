import { createdBy } from "../../../client/administration.ts";
import type { LinkChanges, LinkOptions } from "../../../client/api/types.ts";

import { isTemporary, KvdriveError, unlessMissing } from "../../../client/errors.ts";
import { RemoteDrives } from "../../../client/drives.ts";
import { COUNT, LIFE, type ValueType } from "../../options/value_types.ts";
import { printNotice, UsageError } from "../../terminal/output.ts";
import { readSecret } from "../../terminal/prompt.ts";
import { plural } from "../../terminal/text.ts";
import { type DrivePath, isFolder, parseDrivePath } from "../drive_path.ts";
import type { CommandCall } from "../command_call.ts";
import { drivesOf, findEach, listIn } from "./drives.ts";

/** Characters of a link's token that are its id. */
const ID_LENGTH = 26;

export async function createLink(call: CommandCall): Promise<void> {
  const { drive, name } = parseDrivePath(call.operand(0), call.get("drive"));
  const target: LinkOptions = isFolder({ drive, name }) ? { prefix: name } : { name };
  const wanted = {
    ...target,
    expiresIn: call.parsed("expires-in", LIFE),
    download: call.has("download"),
    maxDownloads: call.parsed("max-downloads", COUNT),
    password: call.has("password") ? passwordFor(`${drive}:${name}`) : undefined,
  };
  const link = await call.withConnection(async (connection) => {
    const drives = new RemoteDrives(connection);
    const isKnown = await mayExist(drives, { drive, name });
    const link = await createdBy(drives.drive(drive).links.create(wanted));
    if (!isKnown) {
      printNotice(`Warning: There is no ${drive}:${name} yet. The link opens it once it exists`);
    }
    return link;
  });
  call.print(link, [link.url]);
}

/** Reports whether something has a name, or the key may not know. */
async function mayExist(drives: RemoteDrives, { drive, name }: DrivePath): Promise<boolean> {
  try {
    if (isFolder({ drive, name })) return await drives.hasFolder(drive, name);
    return await drives.stat(drive, name) !== undefined;
  } catch (error) {
    if (error instanceof KvdriveError && !isTemporary(error)) return true;
    throw error;
  }
}

export async function listLinks(call: CommandCall): Promise<void> {
  const [drive] = call.operands;
  const links = await listIn(call, drive, ({ links }) => links.list());
  const rows = links.map(({ id, drive_name, name, prefix, expires, ...link }) => [
    id,
    `${drive_name}:${name ?? prefix ?? ""}`,
    expires,
    link.has_password ? "yes" : null,
    link.max_downloads === null ? link.downloads : `${link.downloads} of ${link.max_downloads}`,
    link.url,
  ]);
  const headings = ["ID", "TARGET", "EXPIRES", "PASSWORD", "COUNT", "URL"];
  call.printTable({ links }, headings, rows, "There are no links.");
}

export async function changeLink(call: CommandCall): Promise<void> {
  const id = idOf(call.operand(0));
  const settings = ["expires-in", "max-downloads", "download", "show", "password", "no-password"];
  if (!settings.some((option) => call.has(option))) {
    throw new UsageError(`Nothing to change: give one of --${settings.join(", --")}`);
  }
  refuseBoth(call, "download", "show");
  refuseBoth(call, "password", "no-password");
  const changes: LinkChanges = {
    expiresIn: orNone(call, "expires-in", LIFE),
    maxDownloads: orNone(call, "max-downloads", COUNT),
    download: call.has("download") ? true : call.has("show") ? false : undefined,
    password: call.has("no-password") ? null : call.has("password") ? passwordFor(id) : undefined,
  };
  const [link] = await call.withConnection(async (connection) => {
    const drives = await drivesOf(connection, call.get("drive"));
    return await findEach([id], "link", async () => {
      for (const { links } of drives) {
        const changed = await unlessMissing(links.change(id, changes));
        if (changed !== undefined) return changed;
      }
      return undefined;
    });
  });
  if (link !== undefined) call.print(link, [link.url]);
}

/** Returns the value of an option, `null` for "none", and `undefined` if it is not given. */
function orNone<T>(call: CommandCall, option: string, type: ValueType<T>): T | null | undefined {
  return call.get(option) === "none" ? null : call.parsed(option, type);
}

function refuseBoth(call: CommandCall, one: string, other: string): void {
  if (call.has(one) && call.has(other)) {
    throw new UsageError(`--${one} and --${other} exclude each other: give one of them`);
  }
}

export async function revokeLinks(call: CommandCall): Promise<void> {
  const ids = call.operands.map(idOf);
  const revoked = await call.withConnection(async (connection) => {
    const drives = await drivesOf(connection, call.get("drive"));
    return await findEach(ids, "link", async (id) => {
      for (const drive of drives) if (await drive.links.delete(id)) return id;
      return undefined;
    });
  });
  call.print({ revoked }, [
    `Revoked ${plural(revoked.length, "link")}. Other servers refuse it within 5 seconds.`,
  ]);
}

/** Returns the id of a link that is given by its id or its address. */
function idOf(text: string): string {
  const [, token] = /\/s\/([^/?#]+)/.exec(text) ?? [];
  const id = token === undefined ? text : token.slice(0, ID_LENGTH);
  // The rest of a token is secret, so it is not repeated.
  if (/^[0-9A-Za-z]{1,64}$/.test(id)) return id;
  throw new UsageError("Not a link: give its id, or its address, as kvdrive link list shows them");
}

function passwordFor(target: string): string {
  const password = readSecret(`Password of the link to ${target}: `);
  if (password !== "") return password;
  throw new UsageError("No password: type it, or give it on standard input");
}
