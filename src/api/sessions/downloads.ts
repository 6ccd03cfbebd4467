import type { Caller } from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/responses/json_response.ts";
import { Query } from "../../http/request_target.ts";
import { sendFile } from "../../http/responses/send_file.ts";
import { noCredentials } from "../../openapi/info.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import {
  driveNameProblem,
  fileNameProblem,
  isProjectId,
  MAX_FILE_NAME,
} from "../../rules/names.ts";
import type { Ticket } from "../../store/sessions/tickets.ts";
import { changeFailures, type KeyCall, keyEndpoint } from "../admin/admin_call.ts";
import type { Deps, Endpoint, RoutedRequest } from "../endpoint.ts";
import {
  fileResponses,
  notOfHead,
  readFailures,
  readParameters,
  sendOptionsOf,
} from "../files/download_file.ts";
import { forbiddenText, requireRights } from "../permissions.ts";
import { archiveResponse } from "../sharing/archive_response.ts";
import { MAX_SELECTED, selectionOf } from "../sharing/create_archive.ts";
import { fileHeaders } from "../sharing/share.ts";
import { fileDisposition, lastSegment, requirePerson } from "../sharing/shared_headers.ts";

/** The prefixes of one ticket. */
const MAX_TICKET_PREFIXES = 100;

const CREATE = "createDownload";

/** `POST /dashboard/downloads`: an address that downloads files without credentials for an hour. */
export const createDownload = keyEndpoint({
  id: CREATE,
  tag: "The server",
  summary: "Create a download ticket",
  description:
    "Creates an address that opens files of a drive for an hour without credentials, so that browsers and download " +
    "managers can load them themselves. It ends earlier with the key or token, and with the session that made it. " +
    "Prefixes need the permission `list`, too.",
  body: jsonBody("The files.", schema("DownloadRequest")),
  success: { 201: jsonResponse("The ticket.", "DownloadTicket") },
  failures: {
    ...changeFailures,
    BadRequest:
      "The body is not such JSON, a name is invalid, or all of them are too long together.",
    BodyTimeout: "The body stopped coming, or came too slowly.",
    Conflict: "The drive is being removed.",
    Forbidden: forbiddenText(CREATE),
    NotFound: "The project does not exist (only the administrator gets this response).",
    TooLarge: "The body is larger than any valid one.",
  },
  schemas: {
    DownloadRequest: {
      ...closed({
        project_id: schema("ProjectId"),
        drive_name: schema("DriveName"),
        names: listOf({ type: "string" }, { maxItems: MAX_SELECTED }),
        prefixes: listOf({ type: "string" }, { maxItems: MAX_TICKET_PREFIXES }),
      }, { optional: ["names", "prefixes"] }),
      examples: [{ project_id: "album", drive_name: "photos", prefixes: ["trip/"] }],
    },
    DownloadTicket: closed({
      url: {
        type: "string",
        pattern: "^(/.+)?/dashboard/download/[A-Za-z0-9]{32}$",
        description: "The path, to which `?name=` or `?zip=` is added.",
      },
      expires: schema("Second"),
    }),
  },
}, create);

/** `GET /dashboard/download/{ticket}`: a file of a ticket, or all of them as a ZIP. */
export const openDownload: Endpoint = {
  operation: {
    id: "openDownload",
    tag: "The server",
    summary: "Download files with a ticket",
    description:
      "Returns one file of a ticket, as a link on a file does, or all of them as a zip archive. A page of the same " +
      "origin can show images, audio and video from it.",
    parameters: ["TicketFile", "LinkDownload", "TicketZip", ...readParameters],
    success: fileResponses("The whole file, or the archive.", fileHeaders),
    failures: {
      BadRequest: "The query is malformed, or has neither `name` nor `zip`.",
      Forbidden: "A browser asks for it as a script, a style sheet or a frame of a page.",
      NotFound:
        "There is no such ticket, it has ended, it does not cover this file, or the file is gone.",
      ...readFailures,
    },
    notOfHead,
  },
  access: { security: noCredentials, isShared: true },
  handle: open,
  kind: "download",
};

async function create(call: KeyCall, deps: Deps, caller: Caller): Promise<Response> {
  const { store, basePath } = deps;
  const { rights, hash, session } = caller;
  requireRights(CREATE, rights);
  const payer = caller.isAdministrator ? "" : caller.project;
  using memory = await store.memory.json.reserve(payer, 0);
  const others = ["project_id", "drive_name"];
  const { names, prefixes, fields } = await selectionOf(call, deps, memory, others);
  const project = fields.text("project_id", (id) => isProjectId(id) ? undefined : "is no id");
  const drive = fields.text("drive_name", driveNameProblem);
  if (!caller.isAdministrator && caller.project !== project) throw errors.wrongProject();
  if (prefixes.length > MAX_TICKET_PREFIXES) {
    throw errors.badField("prefixes", `has more than ${MAX_TICKET_PREFIXES} items`);
  }
  rights.requireDrive(drive);
  for (const name of names) rights.requireName(name);
  if (prefixes.length > 0) rights.require("list");
  if (await store.projects.get(project) === undefined) throw errors.projectNotFound(project);
  const owner = caller.isAdministrator ? { hash } : { hash, project };
  const wanted = { owner, project, drive, names, prefixes, session: session?.hash };
  const made = await store.tickets.create(wanted);
  if (made === undefined) throw errors.badField("names", "is too long in all: send fewer names");
  const url = `${basePath}/dashboard/download/${made.token}`;
  return json(201, { url, expires: isoSeconds(made.expires) });
}

async function open(routed: RoutedRequest, deps: Deps): Promise<Response> {
  const { request, requestId, params, context } = routed;
  requirePerson(request.headers);
  const ticket = await deps.store.tickets.find(params["ticket"] ?? "");
  if (ticket === undefined) throw errors.linkNotFound();
  context.key = ticket.key;
  const query = new Query(routed.query);
  const zip = query.one("zip");
  if (zip === undefined) return await openFile(routed, deps, ticket, query);
  const { project, drive, names, rights } = ticket;
  const prefixes = ticket.prefixes.map((prefix) => rights.visiblePrefix(prefix))
    .filter((prefix) => prefix !== undefined);
  const filename = lastSegment(zip).slice(0, MAX_FILE_NAME) || `${drive}.zip`;
  const answer = { method: request.method, requestId, context, filename };
  return await archiveResponse({ project, drive, names, prefixes }, answer, deps);
}

async function openFile(
  routed: RoutedRequest,
  deps: Deps,
  ticket: Ticket,
  query: Query,
): Promise<Response> {
  const name = query.required("name");
  const { project, drive } = ticket;
  const isOpen = fileNameProblem(name) === undefined && covers(ticket, name);
  const file = isOpen ? await deps.store.files.reader.open({ project, drive, name }) : undefined;
  if (file === undefined) throw errors.linkNotFound();
  const isDownload = (query.one("download") ?? "false") !== "false";
  const options = sendOptionsOf(file.record);
  const disposition = fileDisposition({ name, ...file.record }, isDownload);
  options.headers.set("Content-Disposition", disposition);
  return await sendFile(routed, deps, file, options);
}

/** Whether a ticket opens a file. The limits of a key never change, so they were checked when the ticket was made. */
function covers({ names, prefixes, rights }: Ticket, name: string): boolean {
  return names.includes(name) ||
    rights.allowsName(name) && prefixes.some((prefix) => name.startsWith(prefix));
}
