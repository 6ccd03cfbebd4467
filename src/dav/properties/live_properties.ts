/**
 * The properties that the server computes (RFC 4918, 15; quotas: RFC 4331).
 *
 * @module
 */
import type { LockRecord } from "../../store/engine/records.ts";
import type { ListedFile } from "../../store/listing/listing.ts";
import { escapeText } from "../../xml/xml_writer.ts";
import { DAV_NAMESPACE, idOf } from "./property_name.ts";

/** A file or a folder in a response. */
export interface Entry {
  href: string;
  /** The last segment of its name. */
  label: string;
  /** Absent for a folder. */
  record?: ListedFile | undefined;
  /** When a folder was created, in milliseconds since 1970, if that is known. */
  created?: number | undefined;
  /** The locks on it, and on folders above it with everything in them. */
  locks?: readonly PlacedLock[] | undefined;
  quota?: Quota | undefined;
}

/** A lock, and the path of its name. */
export interface PlacedLock extends LockRecord {
  href: string;
}

/** What a project has, in bytes. */
export interface Quota {
  used: number;
  /** Absent if the project has no limit. */
  available: number | undefined;
}

/** A property that the server computes. */
export interface LiveProperty {
  /** Whether a request for all properties includes it. */
  inAll: boolean;
  /** Returns the content of its element; `undefined` if the entry does not have it. */
  of: (entry: Entry) => string | undefined;
}

/** The properties of `DAV:`. */
const DAV_PROPERTIES: Readonly<Record<string, LiveProperty["of"]>> = {
  resourcetype: ({ record }) => record === undefined ? "<D:collection/>" : "",
  displayname: ({ label }) => readable(label),
  getcontentlength: ({ record }) => record && String(record.size),
  getcontenttype: ({ record }) => record && escapeText(record.type),
  getetag: ({ record }) => record && `"${record.version}"`,
  creationdate: ({ record, created = record?.created }) =>
    created === undefined ? undefined : new Date(created).toISOString(),
  getlastmodified: ({ record, created }) => {
    const time = record === undefined ? created : record.mtime ?? record.modified;
    return time === undefined ? undefined : new Date(time).toUTCString();
  },
  supportedlock: () => SUPPORTED_LOCKS,
  lockdiscovery: ({ locks = [] }) => locks.map(activeLock).join(""),
};

/** "A DAV:allprop PROPFIND request SHOULD NOT return" these (RFC 4331, 2). */
const QUOTA_PROPERTIES: Readonly<Record<string, LiveProperty["of"]>> = {
  "quota-available-bytes": ({ quota }) => quota?.available?.toFixed(0),
  "quota-used-bytes": ({ quota }) => quota?.used.toFixed(0),
};

/** The namespace of the properties that Windows sets. */
export const WINDOWS_NAMESPACE = "urn:schemas-microsoft-com:";

/** When the client's own copy of a file was last modified. It is the `mtime` of the drive API. */
export const WINDOWS_MTIME = idOf({ namespace: WINDOWS_NAMESPACE, name: "Win32LastModifiedTime" });

/** All of them by `idOf` their names. */
export const LIVE_PROPERTIES: ReadonlyMap<string, LiveProperty> = new Map([
  ...davProperties(DAV_PROPERTIES, true),
  ...davProperties(QUOTA_PROPERTIES, false),
  [WINDOWS_MTIME, {
    inAll: false,
    of: ({ record }) =>
      record?.mtime === undefined ? undefined : new Date(record.mtime).toUTCString(),
  }],
]);

function davProperties(
  properties: Readonly<Record<string, LiveProperty["of"]>>,
  inAll: boolean,
): [string, LiveProperty][] {
  return Object.entries(properties)
    .map(([name, of]) => [idOf({ namespace: DAV_NAMESPACE, name }), { inAll, of }]);
}

const SUPPORTED_LOCKS = ["exclusive", "shared"].map((scope) =>
  `<D:lockentry><D:lockscope><D:${scope}/></D:lockscope>` +
  "<D:locktype><D:write/></D:locktype></D:lockentry>"
).join("");

/** The scheme of the tokens of locks: random UUIDs. */
export const TOKEN_SCHEME = "urn:uuid:";

export function activeLock(lock: PlacedLock): string {
  const seconds = Math.max(0, Math.ceil((lock.expires - Date.now()) / 1000));
  return "<D:activelock><D:locktype><D:write/></D:locktype>" +
    `<D:lockscope><D:${lock.scope}/></D:lockscope>` +
    `<D:depth>${lock.isDeep ? "infinity" : "0"}</D:depth>` +
    (lock.owner === undefined ? "" : `<D:owner>${lock.owner}</D:owner>`) +
    `<D:timeout>Second-${seconds}</D:timeout>` +
    `<D:locktoken><D:href>${lock.token}</D:href></D:locktoken>` +
    `<D:lockroot><D:href>${escapeText(lock.href)}</D:href></D:lockroot>` +
    "</D:activelock>";
}

/** Characters that XML 1.0 cannot have, not even as references. The path of a name has them encoded. */
// deno-lint-ignore no-control-regex
const UNREADABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

function readable(label: string): string {
  return escapeText(label.replace(UNREADABLE, "\ufffd"));
}
