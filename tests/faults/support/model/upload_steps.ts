import type { Answer } from "../../../support/answer.ts";
import { type Drive, query, Upload, type UploadDetails } from "../../../support/drive.ts";
import { type Guard, show, typeOf } from "./file_steps.ts";
import type { Outcome } from "./history.ts";
import {
  bytesOf,
  type Effect,
  joinParts,
  newBody,
  sizeOf,
  type UploadState,
  withFile,
  withUpload,
} from "./state.ts";
import { type KnownUpload, type Spot, type Step, unexpected, type World } from "./world.ts";

type Parts = Exclude<UploadState, "completed">;

/** An upload whose parts have these sizes. */
export function start(world: World, spot: Spot, plan: readonly number[]): Step {
  const source = world.newSource("upload", plan);
  const request = `start ${source.id} of ${plan.join(" + ")}`;
  return {
    request,
    spots: [spot],
    send: (drive) =>
      drive.send("POST", `/uploads${query({ name: spot.name })}`, {
        headers: { "Content-Type": typeOf(source) },
      }),
    judge(answer): Outcome {
      if (answer.status !== 202) throw unexpected(answer, request);
      const { upload_id: uploadId } = answer.json as UploadDetails;
      world.addUpload(spot, { ...source, uploadId });
      return { text: "202", effect: (state) => withUpload(state, source.id, {}) };
    },
    // Nobody knows its id, so it can never become the file.
    lost: () => undefined,
  };
}

/** Answers that tell the state of an upload and change nothing: to all calls but a completion. */
function judgeState(upload: KnownUpload, { status }: Answer): Outcome | undefined {
  const only = (fits: (state: UploadState | undefined) => boolean): Outcome => ({
    text: String(status),
    effect: (state) => fits(state.uploads[upload.id]) ? state : undefined,
    pure: true,
  });
  if (status === 404) return only((state) => state === undefined);
  if (status === 409) return only((state) => state === "completed");
  return undefined;
}

/** What a call does to an upload that is open. */
function ifOpen(upload: KnownUpload, act: (parts: Parts) => UploadState | undefined): Effect {
  return (state) => {
    const parts = state.uploads[upload.id];
    if (parts === undefined || parts === "completed") return undefined;
    return withUpload(state, upload.id, act(parts));
  };
}

/** A call on an upload that is answered with 200 where it is open. */
function callOn(
  upload: KnownUpload,
  spot: Spot,
  { request, effect, send }: {
    request: string;
    effect: Effect;
    send: (upload: Upload) => Promise<Answer>;
  },
): Step {
  return {
    request,
    spots: [spot],
    send: (drive) => send(handle(drive, spot, upload)),
    judge(answer): Outcome {
      if (answer.status === 200) return { text: "200", effect };
      const outcome = judgeState(upload, answer);
      if (outcome === undefined) throw unexpected(answer, request);
      return outcome;
    },
    lost: () => ({ text: "done", effect }),
  };
}

function handle(drive: Drive, spot: Spot, upload: KnownUpload): Upload {
  return new Upload(drive, spot.name, upload.uploadId);
}

export function sendPart(upload: KnownUpload, spot: Spot, part: number): Step {
  const body = newBody(upload.plan[part - 1] ?? 0);
  upload.sent[part - 1]?.push(body);
  return callOn(upload, spot, {
    request: `part ${part} of ${upload.id}: ${body}`,
    effect: ifOpen(upload, (parts) => ({ ...parts, [part]: body })),
    send: (one) => one.send(part, bytesOf(body)),
  });
}

export function abort(upload: KnownUpload, spot: Spot): Step {
  return callOn(upload, spot, {
    request: `abort ${upload.id}`,
    effect: ifOpen(upload, () => undefined),
    send: (one) => one.abort(),
  });
}

export function complete(upload: KnownUpload, spot: Spot, guard: Guard): Step {
  const request = `complete ${upload.id}${show(guard.headers)}`;
  const effect = completion(upload, guard);
  return {
    request,
    spots: [spot],
    send: (drive) => handle(drive, spot, upload).complete(guard.headers),
    judge(answer): Outcome {
      const { status } = answer;
      if (status === 200) return { text: "200", effect };
      const text = String(status);
      if (status === 400) return { text, effect: whereParts(upload, isRefused), pure: true };
      if (status === 412) {
        const refused: Effect = (state) =>
          guard.holds(state.file)
            ? undefined
            : whereParts(upload, (parts) => !isRefused(parts))(state);
        return { text, effect: refused, pure: true };
      }
      const outcome = status === 404 ? judgeState(upload, answer) : undefined;
      if (outcome === undefined) throw unexpected(answer, request);
      return outcome;
    },
    lost: () => ({ text: "completed", effect }),
  };
}

function isRefused(parts: Parts): boolean {
  return joinParts(parts) === undefined;
}

/** Changes nothing; demands an open upload with certain parts. */
function whereParts({ id }: KnownUpload, fits: (parts: Parts) => boolean): Effect {
  return (state) => {
    const parts = state.uploads[id];
    return parts !== undefined && parts !== "completed" && fits(parts) ? state : undefined;
  };
}

/** Done again it changes nothing, whatever the file has become. */
function completion({ id }: KnownUpload, guard: Guard): Effect {
  return (state) => {
    const parts = state.uploads[id];
    if (parts === "completed") return state;
    const bodies = parts === undefined ? undefined : joinParts(parts);
    if (bodies === undefined || !guard.holds(state.file)) return undefined;
    return withFile(withUpload(state, id, "completed"), { source: id, bodies });
  };
}

/** Asks which parts an upload has. */
export function look(upload: KnownUpload, spot: Spot): Step {
  const request = `look at ${upload.id}`;
  return {
    request,
    spots: [spot],
    send: (drive) => handle(drive, spot, upload).lookUp(),
    judge(answer): Outcome {
      const outcome = answer.status === 200 ? judgeParts(upload, answer) : undefined;
      const other = outcome ?? judgeState(upload, answer);
      if (other === undefined) throw unexpected(answer, request);
      return other;
    },
    lost: () => undefined,
  };
}

function judgeParts(upload: KnownUpload, answer: Answer): Outcome {
  const { parts } = answer.json as UploadDetails;
  const text = JSON.stringify(parts.map(({ part, size }) => [part, size]));
  const isSame = (known: Parts): boolean =>
    JSON.stringify(Object.entries(known).map(([n, body]) => [Number(n), sizeOf(body)])) === text;
  return { text: `200 ${text}`, effect: whereParts(upload, isSame), pure: true };
}
