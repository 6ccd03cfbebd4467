/**
 * What a project key may do: "`permissions` (a list of `read`, `write`, `delete`, `list`, `admin`; absent: all), `drives`
 * (a list; absent: all), `name_prefix` (only names that begin with it) and `expires_in`".
 *
 * @module
 */
import { Refusal } from "./error_codes.ts";
import { SECOND } from "./units.ts";

/** All permissions, in the order in which responses list them. */
export const PERMISSIONS = ["read", "write", "delete", "list", "admin"] as const;

export type Permission = (typeof PERMISSIONS)[number];

/** The drives that a key may be limited to. Every request with the key needs its record. */
export const MAX_KEY_DRIVES = 100;

/** The limits of a key. What is absent does not limit it. */
export interface KeyLimits {
  permissions?: readonly Permission[];
  drives?: readonly string[];
  /** The beginning of every name that the key is for. */
  namePrefix?: string;
  /** End of the key's life, in milliseconds since 1970. */
  expires?: number;
}

/** Returns whether the stored limits of a key, which may be damaged, are limits. */
export function areKeyLimits(stored: KeyLimits): boolean {
  const { permissions = PERMISSIONS, drives = [""], namePrefix = "a", expires = 0 } = stored;
  const known: readonly string[] = PERMISSIONS;
  return isTexts(permissions) && permissions.every((one) => known.includes(one)) &&
    isTexts(drives) && typeof namePrefix === "string" && namePrefix !== "" &&
    Number.isFinite(expires);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 &&
    value.every((item) => typeof item === "string");
}

/** A known key does not have the right that a call needs. */
export class RightMissing extends Refusal {
  /** @param problem Why the key is refused, as the end of a sentence that begins with the key. */
  constructor(
    code: "missing_permission" | "key_limited" | "rights_exceeded",
    readonly problem: string,
  ) {
    super(code, `The key in X-Api-Key ${problem}`);
  }
}

/** The rights of the sender of a request: those of a project key, or all for the administrator. */
export class Rights {
  /** The rights of a key without limits, and of the administrator within a project. */
  static readonly all: Rights = new Rights({});

  /** In the order of `PERMISSIONS`. */
  readonly permissions: readonly Permission[];
  /** `undefined` for all drives. */
  readonly drives: readonly string[] | undefined;
  /** Empty for all names. */
  readonly namePrefix: string;
  /** Milliseconds since 1970; `undefined` for a key that does not expire. */
  readonly expires: number | undefined;

  constructor({ permissions, drives, namePrefix = "", expires }: KeyLimits) {
    this.permissions = permissions === undefined
      ? PERMISSIONS
      : PERMISSIONS.filter((permission) => permissions.includes(permission));
    this.drives = drives;
    this.namePrefix = namePrefix;
    this.expires = expires;
  }

  /** Whether neither the drives nor the names are limited. */
  get isForWholeProject(): boolean {
    return this.drives === undefined && this.namePrefix === "";
  }

  /** Whether the key is one of the owner: it administers the project, and uses its applications. */
  get isOwners(): boolean {
    return this.has("admin") && this.isForWholeProject;
  }

  has(permission: Permission): boolean {
    return this.permissions.includes(permission);
  }

  allowsDrive(drive: string): boolean {
    return this.drives === undefined || this.drives.includes(drive);
  }

  allowsName(name: string): boolean {
    return name.startsWith(this.namePrefix);
  }

  /** @throws {RightMissing} naming the permissions that are missing. */
  require(...permissions: readonly Permission[]): void {
    if (permissions.every((permission) => this.has(permission))) return;
    const missing = permissions.filter((permission) => !this.has(permission));
    throw new RightMissing(
      "missing_permission",
      `does not have ${permissionText(missing)}: send a key that does`,
    );
  }

  /** @throws {RightMissing} if the key is limited to other drives. */
  requireDrive(drive: string): void {
    if (this.allowsDrive(drive)) return;
    throw new RightMissing(
      "key_limited",
      `is not for the drive ${JSON.stringify(drive)}: send a key that is`,
    );
  }

  /** @throws {RightMissing} if the key is limited to names with another beginning. */
  requireName(name: string): void {
    if (this.allowsName(name)) return;
    throw new RightMissing(
      "key_limited",
      `is only for names that begin with ${JSON.stringify(this.namePrefix)}: ` +
        "send another key for other names",
    );
  }

  /** @throws {RightMissing} if the key is limited to some names. */
  requireAllNames(): void {
    if (this.namePrefix === "") return;
    throw new RightMissing(
      "key_limited",
      `is only for names that begin with ${JSON.stringify(this.namePrefix)}: ` +
        "send a key for all names",
    );
  }

  /** @throws {RightMissing} if the key is limited to some drives or names. */
  requireWholeProject(): void {
    if (this.isForWholeProject) return;
    throw new RightMissing(
      "key_limited",
      "is limited to some drives or names: send a key of the whole project",
    );
  }

  /**
   * Checks that a key may create another one: "no key can make one with more rights than its own".
   *
   * @param prefixField The field of the request with the beginning of names, for the message.
   * @throws {RightMissing} naming what exceeds the rights.
   */
  requireToCreate(other: Rights, prefixField = "name_prefix"): void {
    const refuse = (problem: string) => {
      throw new RightMissing("rights_exceeded", `cannot create ${problem}`);
    };
    const missing = other.permissions.filter((permission) => !this.has(permission));
    if (missing.length > 0) {
      refuse(`a key with ${permissionText(missing)}, which it does not have itself: choose fewer`);
    }
    if (!this.allowsName(other.namePrefix)) {
      const own = JSON.stringify(this.namePrefix);
      refuse(`a key for more names than its own: give a "${prefixField}" that begins with ${own}`);
    }
    if (!this.coversScope(other)) {
      refuse('a key for more drives than its own: give only these in "drives"');
    }
    this.requireToOutlive("a key", other.expires);
  }

  /**
   * Checks that a key may create something that opens files or applications: "a key that expires makes no link, key or
   * application key that outlives it".
   *
   * @param what What it creates, for the message.
   * @param expires When that expires, in milliseconds since 1970; `undefined` for never.
   * @throws {RightMissing}
   */
  requireToOutlive(what: string, expires: number | undefined): void {
    if (this.expires === undefined || (expires ?? Infinity) <= this.expires) return;
    const left = Math.max(0, Math.floor((this.expires - Date.now()) / SECOND));
    throw new RightMissing(
      "rights_exceeded",
      `cannot create ${what} that expires later than itself: ` +
        `give an "expires_in" of at most ${left} seconds, or send a key that lasts longer`,
    );
  }

  /** The same for something that has no end. @throws {RightMissing} */
  requireEndless(what: string): void {
    if (this.expires === undefined) return;
    throw new RightMissing(
      "rights_exceeded",
      `cannot create ${what} that expires later than itself, or never: send a key that does not expire`,
    );
  }

  /** Checks that a key may revoke another one, which is for its own drives and names. @throws {RightMissing} */
  requireToRevoke({ permissions }: Rights): void {
    const missing = permissions.filter((permission) => !this.has(permission));
    if (missing.length === 0) return;
    throw new RightMissing(
      "rights_exceeded",
      `cannot revoke a key with ${permissionText(missing)}, ` +
        "which it does not have itself: send a key that does",
    );
  }

  /** Whether this key is for all the drives and names that another is for. */
  coversScope({ drives, namePrefix }: Rights): boolean {
    if (!this.allowsName(namePrefix)) return false;
    if (this.drives === undefined) return true;
    return drives !== undefined && drives.every((drive) => this.allowsDrive(drive));
  }

  /**
   * Returns the prefix to list instead of the given one, so that only names show that the key is for; `undefined` if
   * none of them begins with the given one.
   */
  visiblePrefix(prefix: string): string | undefined {
    if (prefix.startsWith(this.namePrefix)) return prefix;
    return this.namePrefix.startsWith(prefix) ? this.namePrefix : undefined;
  }
}

/** Permissions as a sentence names them: `the permissions "read" and "list"`. */
function permissionText(permissions: readonly Permission[]): string {
  const names = permissions.map((permission) => `"${permission}"`).join(" and ");
  return `the permission${permissions.length === 1 ? "" : "s"} ${names}`;
}
