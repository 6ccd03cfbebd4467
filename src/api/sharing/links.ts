import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { boundedJson, json, pagingOf } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, orNull, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { MAX_EXPIRES_IN, SECOND } from "../../rules/units.ts";
import type { Rights } from "../../rules/rights.ts";
import {
  byteLength,
  fileNameProblem,
  MAX_FILE_NAME,
  MAX_LIST,
  prefixProblem,
} from "../../rules/names.ts";
import type { LinkTarget } from "../../store/engine/records.ts";
import { type LinkSettings, MAX_LINK_PASSWORD } from "../../store/links/link_record.ts";
import { type LinkInfo, MAX_LINKS, type NewLink } from "../../store/links/link_store.ts";
import { type DriveCall, driveEndpoint } from "../drive_call.ts";
import type { Deps, ShareAddress } from "../endpoint.ts";

/** The most downloads that a link may be limited to. */
const MAX_DOWNLOADS = 1_000_000_000;

/** Estimated memory for reading and writing one link with a name of common length, in bytes. */
const LINK_MEMORY = 2048;

const SETTINGS = ["expires_in", "download", "password", "max_downloads"];

const target = {
  name: schema("FileName"),
  prefix: { type: "string", maxLength: MAX_FILE_NAME, examples: ["trip/2026/"] },
};

const settings = {
  expires_in: orNull({
    type: "integer",
    minimum: 1,
    maximum: MAX_EXPIRES_IN,
    description: "Seconds from now; `null`: until the link is revoked.",
  }),
  download: {
    type: "boolean",
    description: "Whether browsers save the files rather than show them.",
  },
  password: orNull({
    type: "string",
    minLength: 1,
    maxLength: MAX_LINK_PASSWORD,
    description: `At most ${MAX_LINK_PASSWORD} bytes of UTF-8; \`null\`: none.`,
  }),
  max_downloads: orNull({
    type: "integer",
    minimum: 1,
    maximum: MAX_DOWNLOADS,
    description:
      "The number of answers with bytes of files, after which the link is used up; `null`: no limit.",
  }),
};

const NO_LINK = "The drive has no such link, or (to the administrator) the project does not exist.";

const bodyFailures = {
  BadRequest: "The body is not such a JSON object: the error names the wrong field.",
  BodyTimeout: "The body stopped coming.",
  TooLarge: "The body is larger than any valid one.",
  StorageFull: "The disk is full: nothing was changed.",
};

/** `POST /links`: "`expires_in` in seconds, `null` or absent: until revoked". */
export const createLink = driveEndpoint({
  id: "createLink",
  tag: "Sharing",
  summary: "Create a link",
  description:
    "A link opens a file, or all files whose names start with a prefix, to everyone who has its address. " +
    "They need not exist yet: a link serves the version that a name has at that moment. " +
    "A key that expires makes no link that outlives it. " +
    `A project may have ${MAX_LINKS} links.`,
  body: jsonBody("What the link leads to, and its limits.", schema("LinkRequest"), {
    example: { name: "pets/cat.jpg", expires_in: 604_800 },
  }),
  success: {
    201: jsonResponse("The link.", "Link", {
      example: {
        id: "01J9Z3NDEKTSV4RRFFQ69G5FAV",
        url: "https://files.example.com/s/01J9Z3NDEKTSV4RRFFQ69G5FAVq2Zr8mXw5TnLhKd1YcVbJg",
        name: "pets/cat.jpg",
        created: "2026-04-22T11:50:08Z",
        expires: "2026-04-29T11:50:08Z",
        download: false,
        has_password: false,
        max_downloads: null,
        downloads: 0,
      },
    }),
  },
  failures: {
    ...bodyFailures,
    Conflict: "The project has too many links, or the drive is being removed.",
  },
  schemas: {
    LinkRequest: {
      type: "object",
      properties: { ...target, ...settings, download: { ...settings.download, default: false } },
      oneOf: [{ required: ["name"] }, { required: ["prefix"] }],
      additionalProperties: false,
    },
    Link: closed({
      id: schema("LinkId"),
      url: { type: "string", format: "uri", description: "The address that opens the link." },
      ...target,
      created: schema("Second"),
      expires: orNull(schema("Second")),
      download: { type: "boolean" },
      has_password: { type: "boolean" },
      max_downloads: orNull({ type: "integer", minimum: 1 }),
      downloads: count("Answers with bytes of files.", 3),
    }, { optional: ["name", "prefix"] }),
    LinkId: { type: "string", minLength: 1, examples: ["01J9Z3NDEKTSV4RRFFQ69G5FAV"] },
  },
}, async (call, deps) => {
  const { store } = deps;
  const fields = await Fields.read(call, deps, ["name", "prefix", ...SETTINGS]);
  const wanted = newLinkOf(fields);
  requireTarget(call.rights, wanted.target);
  call.rights.requireToOutlive("a link", wanted.expires ?? undefined);
  using _reserved = await store.reserveDisk(0);
  const link = await store.links.create(call, wanted, call.actor());
  return json(201, linkJson(link, call, deps));
});

/** `GET /links`: the links of a drive, "newest first, `paging` as in listings". */
export const listLinks = driveEndpoint({
  id: "listLinks",
  tag: "Sharing",
  summary: "List links",
  description: "Lists the links of a drive that have not expired, the newest first.",
  parameters: ["Limit", "LastLink"],
  success: {
    200: jsonResponse("The links, and `paging` if there is a next page.", "LinkList"),
  },
  schemas: {
    LinkList: closed({
      links: listOf(schema("Link"), { maxItems: MAX_LIST }),
      paging: schema("Paging"),
    }, { optional: ["paging"] }),
  },
}, list);

async function list(call: DriveCall, deps: Deps): Promise<Response> {
  const { project, drive, query, rights } = call;
  const accepts = ({ name, prefix = "" }: LinkTarget) => rights.allowsName(name ?? prefix);
  const { limit, last } = query.pageOfIds();
  const options = { estimate: limit * LINK_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, options, async () => {
    const { links, more } = await deps.store.links.list(project, drive, { limit, last, accepts });
    return {
      links: links.map((link) => linkJson(link, call, deps)),
      ...pagingOf(links.map(({ id }) => id), more),
    };
  });
}

/** `PATCH /links/{id}`. */
export const changeLink = driveEndpoint({
  id: "changeLink",
  tag: "Sharing",
  summary: "Change a link",
  description:
    "Sets the given fields; `null` removes a limit. The address and the count of downloads stay, so a link that is used up " +
    "opens again with a higher limit. A key changes a link only into one that it could create. " +
    "In other server processes the change counts within 5 seconds.",
  body: jsonBody("The fields to set.", schema("ChangeLinkRequest"), {
    example: { expires_in: 604_800, password: null },
  }),
  success: { 200: jsonResponse("The changed link.", "Link") },
  failures: { ...bodyFailures, NotFound: NO_LINK },
  schemas: {
    ChangeLinkRequest: closed(settings, {
      optional: SETTINGS,
      description: "At least one field is required.",
    }),
  },
}, async (call, deps) => {
  const { store } = deps;
  const fields = await Fields.read(call, deps, SETTINGS);
  if (!SETTINGS.some((name) => fields.has(name))) throw errors.nothingToChange(SETTINGS);
  const changes = settingsOf(fields, Date.now());
  const { expires } = await requireLink(call, store);
  call.rights.requireToOutlive(
    "a link",
    (fields.has("expires_in") ? changes.expires : expires) ?? undefined,
  );
  using _reserved = await store.reserveDisk(0);
  const changed = await store.links.change(call, changes, call.actor());
  if (changed === undefined) throw errors.linkIdNotFound(call.id);
  return json(200, linkJson(changed, call, deps));
});

/** `DELETE /links/{id}`: "the URL is dead at once here, and within 5 s in other server processes". */
export const revokeLink = driveEndpoint({
  id: "revokeLink",
  tag: "Sharing",
  summary: "Revoke a link",
  description:
    "The link opens nothing once this is answered; in other server processes within 5 seconds.",
  success: { 200: jsonResponse("The link was revoked.", "RevokedLink") },
  failures: { NotFound: NO_LINK, StorageFull: bodyFailures.StorageFull },
  schemas: { RevokedLink: closed({ id: schema("LinkId") }) },
}, async (call, { store }) => {
  const { project, drive, id, actor } = call;
  await requireLink(call, store);
  if (!await store.links.revoke(project, drive, id, actor())) throw errors.linkIdNotFound(id);
  return json(200, { id });
});

/** The link in the path. @throws {HttpError} 404 if there is none, 403 if the key is not for what it leads to. */
async function requireLink(
  { project, drive, id, rights }: DriveCall,
  { links }: Deps["store"],
): Promise<LinkInfo> {
  const link = await links.get(project, drive, id);
  if (link === undefined) throw errors.linkIdNotFound(id);
  requireTarget(rights, link);
  return link;
}

/**
 * "a link on a file `read`, on a prefix `read` and `list`; listing and revoking links `list` and `read` (of what they
 * point at)": no key makes, changes or revokes a link to what it may not see.
 *
 * @throws {RightMissing}
 */
function requireTarget(rights: Rights, { name, prefix = "" }: LinkTarget): void {
  if (name === undefined) rights.require("read", "list");
  rights.requireName(name ?? prefix);
}

/** @throws {HttpError} 400 naming the field. */
function newLinkOf(fields: Fields): NewLink {
  const created = Date.now();
  return { target: targetOf(fields), created, ...settingsOf(fields, created) };
}

/** @param now When the time until its end begins. @throws {HttpError} 400 naming the field. */
function settingsOf(fields: Fields, now: number): LinkSettings {
  const seconds = fields.integerOrNull("expires_in", 1, MAX_EXPIRES_IN);
  return {
    expires: typeof seconds === "number" ? now + seconds * SECOND : seconds,
    download: fields.has("download") ? fields.flag("download") : undefined,
    password: fields.textOrNull("password", passwordProblem),
    maxDownloads: fields.integerOrNull("max_downloads", 1, MAX_DOWNLOADS),
  };
}

function targetOf(fields: Fields): LinkTarget {
  const name = fields.optionalText("name", fileNameProblem);
  const prefix = fields.optionalText("prefix", prefixProblem);
  if (name !== undefined && prefix === undefined) return { name };
  if (name === undefined && prefix !== undefined) return { prefix };
  throw errors.linkTarget();
}

function passwordProblem(password: string): string | undefined {
  if (password === "") return "is empty: it needs a character, or leave it out";
  const bytes = byteLength(password);
  if (bytes <= MAX_LINK_PASSWORD) return undefined;
  return `has ${bytes} bytes of UTF-8: at most ${MAX_LINK_PASSWORD} are allowed`;
}

function linkJson(
  link: LinkInfo,
  { origin }: Pick<DriveCall, "origin">,
  { share, basePath }: Pick<Deps, "share" | "basePath">,
): Record<string, unknown> {
  const { id, token, name, prefix, created, expires, download, maxDownloads, downloads } = link;
  return {
    id,
    url: `${shareOrigin(share, origin)}${basePath}/s/${token}`,
    ...(name === undefined ? { prefix } : { name }),
    created: isoSeconds(created),
    expires: expires === undefined ? null : isoSeconds(expires),
    download,
    has_password: link.password !== undefined,
    max_downloads: maxDownloads ?? null,
    downloads,
  };
}

/** "the public address is `--public-url`, else the request's own". */
function shareOrigin({ publicUrl, host }: ShareAddress, origin: () => string): string {
  const base = new URL(publicUrl ?? origin());
  if (host !== undefined) base.hostname = host;
  return base.origin;
}
