import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { sentenceOf } from "../core/api_error.ts";
import type { App } from "../core/context.ts";
import { Button, IconButton, useBusy } from "./button.tsx";
import { FormProblem, type InputAttributes, TextField } from "./field.tsx";

type Size = "small" | "medium";

/** Where a dialog begins: at its first field, at what is marked, or at its last button, which is its main one. */
const BEGINNINGS = [
  ".dialog-body :is(input, select, textarea):enabled",
  "[data-begin]",
  ".dialog-foot .button:last-child:enabled",
];

/**
 * A modal dialog: the browser's own, which keeps the focus inside, closes with Escape and returns the focus.
 * A click beside it closes it unless it has a form.
 */
export function Dialog({ title, onClose, children, footer, size = "medium", isForm = false }: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
  size?: Size | undefined;
  isForm?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // It has to be closed while it is in the document: only then the focus returns.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    const first = BEGINNINGS.map((one) => dialog?.querySelector<HTMLElement>(one)).find(Boolean);
    first?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog raised ${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (!isForm && event.target === ref.current) onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="dialog-frame">
        <div class="dialog-head line between">
          <h2 id={id}>{title}</h2>
          <IconButton icon={X} label="Close" onClick={() => onClose()} />
        </div>
        <div class="dialog-body">{children}</div>
        {footer === undefined ? null : <div class="dialog-foot">{footer}</div>}
      </div>
    </dialog>
  );
}

/** A dialog with a form. It stays open, with the problem beside its fields, until `onSubmit` succeeds. */
export function FormDialog({ title, submit, onClose, onSubmit, children, isDanger, size }: {
  title: string;
  /** The label of the button. */
  submit: string;
  /** Called without a result. */
  onClose: () => void;
  /** What it throws is shown above the buttons. */
  onSubmit: () => Promise<unknown> | unknown;
  children: ComponentChildren;
  isDanger?: boolean;
  size?: Size | undefined;
}) {
  const id = useId();
  const [problem, setProblem] = useState("");
  const [isBusy, send] = useBusy<Event>(async () => {
    setProblem("");
    await onSubmit();
  }, (error) => setProblem(sentenceOf(error)));
  const buttons = (
    <>
      <Button data-begin={isDanger || undefined} onClick={() => onClose()}>Cancel</Button>
      <Button
        kind={isDanger ? "danger" : "primary"}
        type="submit"
        form={id}
        aria-busy={isBusy || undefined}
      >
        {submit}
      </Button>
    </>
  );
  return (
    <Dialog {...{ title, onClose, size }} footer={buttons} isForm>
      <form id={id} class="stack" onSubmit={send} noValidate>
        {children}
        <FormProblem text={problem} />
      </form>
    </Dialog>
  );
}

/** A question for one line of text. */
interface TextQuestion extends InputAttributes {
  title: string;
  /** The label of the button. */
  submit: string;
  label: string;
  hint?: string;
  initial?: string;
  /** Returns what is wrong with a text; empty or `undefined` if it can be used. */
  problemOf: (text: string) => Promise<string | undefined> | string | undefined;
}

/** Asks for a text. @param use Uses it, before the dialog closes: what it throws is shown in the dialog. */
export async function askForText(
  { overlays }: Pick<App, "overlays">,
  question: TextQuestion,
  use: (text: string) => unknown = () => {},
): Promise<string | undefined> {
  return await overlays.show<string>((close) => (
    <TextDialog {...question} use={use} onClose={close} />
  ));
}

function TextDialog(
  { title, submit, initial = "", problemOf, use, onClose, ...field }: TextQuestion & {
    use: (text: string) => unknown;
    onClose: (text?: string) => void;
  },
) {
  const [value, setValue] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const send = async () => {
    const found = await problemOf(value);
    setProblem(found);
    if (found) return;
    await use(value);
    onClose(value);
  };
  return (
    <FormDialog {...{ title, submit, onClose }} size="small" onSubmit={send}>
      <TextField
        {...field}
        {...{ value, problem }}
        onInput={(value) => {
          setValue(value);
          setProblem(undefined);
        }}
      />
    </FormDialog>
  );
}

/** A question before something that destroys. */
export interface Question {
  title: string;
  text: ComponentChildren;
  /** The label of the button, such as "Delete drive". */
  action: string;
  /** A word that has to be typed first, such as the name of what is deleted. */
  typed?: string;
}

/** Asks before something that destroys. Returns whether the user agreed. */
export async function confirm(
  { overlays }: Pick<App, "overlays">,
  question: Question,
): Promise<boolean> {
  const answer = await overlays.show<true>((close) => (
    <Confirmation
      {...question}
      onClose={close}
    />
  ));
  return answer === true;
}

function Confirmation({ title, text, action, typed, onClose }: Question & {
  onClose: (agreed?: true) => void;
}) {
  const [entered, setEntered] = useState("");
  const submit = () => {
    if (typed !== undefined && entered !== typed) throw new Error(`Type “${typed}” to confirm`);
    onClose(true);
  };
  return (
    <FormDialog
      title={title}
      submit={action}
      isDanger
      size="small"
      onClose={onClose}
      onSubmit={submit}
    >
      <div class="prose">{text}</div>
      {typed !== undefined && (
        <TextField
          label={
            <>
              Type <strong>{typed}</strong> to confirm
            </>
          }
          value={entered}
          spellcheck={false}
          onInput={setEntered}
        />
      )}
    </FormDialog>
  );
}
