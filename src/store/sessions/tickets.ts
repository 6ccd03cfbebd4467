import { Buffer } from "node:buffer";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { monotonicUlid } from "@std/ulid";
import { Rights } from "../../rules/rights.ts";
import { hashSecret, newSecret } from "../../rules/secrets.ts";
import { HOUR, MIB } from "../../rules/units.ts";
import type { AdminToken } from "../accounts/admin_token.ts";
import type { ProjectKeyStore } from "../accounts/project_keys.ts";
import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { Credential, TicketRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { makeRoom, setGrant } from "./grants.ts";
import type { SignInStore } from "./sign_ins.ts";

/** How long a download ticket is valid, in milliseconds. */
export const TICKET_TIME = HOUR;

/** Tickets of one credential: the oldest makes room. */
export const MAX_TICKETS = 500;

/** The compressed names and prefixes of a ticket, in bytes: with the rest they fit into one value of the store. */
const MAX_SELECTION = 45_000;

/** The same before they are compressed. 1000 names of 1024 bytes, each character of them escaped, are less. */
const MAX_UNPACKED = 8 * MIB;

export interface TicketSelection {
  names: readonly string[];
  prefixes: readonly string[];
}

export interface NewTicket extends TicketSelection {
  owner: Credential;
  project: string;
  drive: string;
  /** The session that makes it, as the SHA-256 of its token: the ticket ends with it. */
  session?: string | undefined;
}

export interface Ticket extends TicketSelection {
  project: string;
  drive: string;
  /** The present rights of its credential. */
  rights: Rights;
  /** The prefix of the key, or `admin`. */
  key: string;
}

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

/** Addresses that open a selection of files for an hour, without credentials. Only the SHA-256 of a token is stored. */
export class TicketStore {
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly deps: {
      keys: ProjectKeyStore;
      adminToken: AdminToken;
      signIns: SignInStore;
    },
  ) {}

  /**
   * Creates a ticket. Returns its token, which cannot be read again; `undefined` if the names take too much space.
   *
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   */
  async create(
    { owner, project, drive, session, names, prefixes }: NewTicket,
  ): Promise<{ token: string; expires: number } | undefined> {
    const packed = await compress(JSON.stringify({ names, prefixes }));
    if (packed.byteLength > MAX_SELECTION) return undefined;
    const selection = packed.toString("base64");
    await makeRoom(this.db, owner.hash, "ticket", MAX_TICKETS);
    const token = newSecret();
    let tries = 0;
    return await transact(this.db, async () => {
      // The operation has failed if the record of the project has changed.
      if (tries++ > 0) this.projects.forget(project);
      const { created: projectCreated, unchanged } = await this.projects.requireWritable({
        project,
        drive,
      });
      const created = Date.now();
      const expires = created + TICKET_TIME;
      const record: TicketRecord = {
        id: monotonicUlid(),
        owner,
        created,
        expires,
        project,
        projectCreated,
        drive,
        selection,
        ...(session === undefined ? {} : { session }),
      };
      const operation = new Operation().share(unchanged);
      setGrant(operation, { kind: "ticket", hash: hashSecret(token), record });
      return { operation, result: { token, expires } };
    });
  }

  /** Returns the ticket with a token, which may be any text; `undefined` if it is unknown or has ended. */
  async find(token: string): Promise<Ticket | undefined> {
    const hash = hashSecret(token);
    const [{ value }] = await this.db.reads.get<[TicketRecord]>([keys.grant("ticket", hash)]);
    if (value === null) return undefined;
    const { project, drive, session, expires, selection } = value;
    const known = expires > Date.now() ? await this.projects.find(project) : undefined;
    if (known?.created !== value.projectCreated) return undefined;
    const isSignedOut = session !== undefined &&
      await this.deps.signIns.find(session) === undefined;
    const holder = isSignedOut ? undefined : await this.#holder(value.owner);
    if (holder === undefined) return undefined;
    return { project, drive, ...holder, ...await unpack(selection) };
  }

  async #holder(
    { hash, project }: Credential,
  ): Promise<{ rights: Rights; key: string } | undefined> {
    if (project === undefined) {
      return await this.deps.adminToken.hasHash(hash)
        ? { rights: Rights.all, key: "admin" }
        : undefined;
    }
    const key = await this.deps.keys.find(hash);
    return key?.project === project ? { rights: key.rights, key: key.prefix } : undefined;
  }
}

async function unpack(selection: string): Promise<TicketSelection> {
  const text = await decompress(Buffer.from(selection, "base64"), {
    maxOutputLength: MAX_UNPACKED,
  });
  return JSON.parse(text.toString()) as TicketSelection;
}
