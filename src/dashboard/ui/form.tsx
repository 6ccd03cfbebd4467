import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { sentenceOf } from "../core/api_error.ts";
import type { App } from "../core/context.ts";
import { Button, useBusy } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Checkbox, FormProblem, type InputAttributes, SelectField, TextField } from "./field.tsx";

/** A field of a form. Its value decides about its control: a line of text, one of some options, a check box, or its own. */
type FieldOf<T, V> =
  & FieldBase<V>
  & ([T] extends [boolean] ? Labelled<V>
    : [T] extends [string]
      ? Labelled<V> & InputAttributes & { options?: readonly (readonly [T, string])[] }
    : { control: (value: T, onChange: (value: T) => void) => ComponentChildren });

interface Labelled<V> {
  label: ComponentChildren;
  hint?: ComponentChildren | ((values: V) => ComponentChildren);
}

interface FieldBase<V> {
  isShown?: (values: V) => boolean;
  /** What is wrong with its value. It is shown beside the field, and the form is not sent. */
  problem?: (values: V) => string | undefined;
  /** The same, which is found when the form is sent. */
  check?: (values: V) => Promise<string | undefined> | string | undefined;
}

/** A form in a dialog: its values by their names, and their fields in the order in which they are shown. */
export interface Form<V extends object, R> {
  title: string;
  /** The label of the button. */
  submit: string;
  isDanger?: boolean;
  size?: "small";
  /** What is said above the fields. */
  intro?: ComponentChildren;
  initial: V;
  fields: { readonly [K in keyof V]: FieldOf<V[K], V> };
  /** Sends the values. The dialog closes with the result; it stays open and shows what this throws. */
  send: (values: V) => Promise<R> | R;
}

/** Shows a form. Returns what it sent it for; `undefined` if it was cancelled. */
export function askForm<V extends object, R>(
  { overlays }: Pick<App, "overlays">,
  form: Form<V, R>,
): Promise<R | undefined> {
  return overlays.show<R>((close) => <FormDialog form={form} onClose={close} />);
}

function FormDialog<V extends object, R>({ form, onClose }: {
  form: Form<V, R>;
  onClose: (result?: R) => void;
}) {
  const { fields, button } = useForm(form, onClose);
  const footer = (
    <>
      <Button data-begin={form.isDanger || undefined} onClick={() => onClose()}>Cancel</Button>
      {button}
    </>
  );
  return (
    <Dialog
      title={form.title}
      size={form.size}
      footer={footer}
      onClose={() => onClose()}
      isForm
    >
      {fields}
    </Dialog>
  );
}

/** Returns the fields of a form, and the button that sends it. @param done Called with what came of it. */
export function useForm<V extends object, R>(
  form: Form<V, R>,
  done: (result: R) => void,
): { fields: ComponentChildren; button: ComponentChildren } {
  const id = useId();
  const [values, setValues] = useState(form.initial);
  const [refusal, setRefusal] = useState("");
  /** What the last check found about values. */
  const [checked, setChecked] = useState<{ values: V; problems: Problems }>();
  const fields = shownFields(form, values);
  const found = checked?.values === values ? checked.problems : {};
  const problems = fields.map(([name, { problem }]) => problem?.(values) ?? found[name]);
  const [isBusy, send] = useBusy<Event>(async () => {
    setRefusal("");
    if (fields.some(([, { problem }]) => problem?.(values))) return;
    const problems = await checkAll(fields, values);
    setChecked({ values, problems });
    if (Object.values(problems).some(Boolean)) return;
    const result = await form.send(values);
    setValues(form.initial);
    done(result);
  }, (error) => setRefusal(sentenceOf(error)));
  const element = (
    <form id={id} class="stack" onSubmit={send} noValidate>
      {form.intro}
      {fields.map(([name, field], index) => (
        <Control
          key={name}
          {...field}
          hint={typeof field.hint === "function" ? field.hint(values) : field.hint}
          problem={problems[index]}
          value={values[name as keyof V]}
          onChange={(value) => setValues((values) => ({ ...values, [name]: value }))}
        />
      ))}
      <FormProblem text={refusal} />
    </form>
  );
  const button = (
    <Button
      kind={form.isDanger ? "danger" : "primary"}
      type="submit"
      form={id}
      aria-busy={isBusy || undefined}
    >
      {form.submit}
    </Button>
  );
  return { fields: element, button };
}

/** A field whose value may be of any type: `FieldOf` has made sure that its control fits. */
interface AnyField<V> extends FieldBase<V>, Labelled<V>, InputAttributes {
  options?: readonly (readonly [string, string])[];
  control?: (value: unknown, onChange: (value: unknown) => void) => ComponentChildren;
}

type Problems = Record<string, string | undefined>;

function shownFields<V extends object, R>({ fields }: Form<V, R>, values: V) {
  const all = Object.entries(fields) as [string, AnyField<V>][];
  return all.filter(([, { isShown }]) => isShown?.(values) ?? true);
}

async function checkAll<V>(
  fields: readonly [string, AnyField<V>][],
  values: V,
): Promise<Problems> {
  const found: Problems = {};
  for (const [name, { check }] of fields) found[name] = await check?.(values);
  return found;
}

function Control<V>(
  { label, hint, problem, value, onChange, options, control, isShown: _, check: __, ...input }:
    & Omit<AnyField<V>, "hint" | "problem">
    & {
      hint: ComponentChildren;
      problem: string | undefined;
      value: unknown;
      onChange: (value: unknown) => void;
    },
) {
  if (control !== undefined) return <>{control(value, onChange)}</>;
  if (typeof value === "boolean") {
    return <Checkbox {...{ label, hint, onChange }} checked={value} />;
  }
  const text = { label, hint, problem, value: String(value) };
  return options === undefined
    ? <TextField {...input} {...text} onInput={onChange} />
    : <SelectField {...text} {...{ options, onChange }} />;
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
  app: Pick<App, "overlays">,
  { title, submit, initial = "", problemOf, ...field }: TextQuestion,
  use: (text: string) => unknown = () => {},
): Promise<string | undefined> {
  return await askForm(app, {
    title,
    submit,
    size: "small",
    initial: { text: initial },
    fields: { text: { ...field, check: ({ text }) => problemOf(text) } },
    send: async ({ text }) => {
      await use(text);
      return text;
    },
  });
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
  app: Pick<App, "overlays">,
  { title, text, action, typed }: Question,
): Promise<boolean> {
  const label = (
    <>
      Type <strong>{typed}</strong> to confirm
    </>
  );
  const answer = await askForm(app, {
    title,
    submit: action,
    isDanger: true,
    size: "small",
    intro: <div class="prose stack">{text}</div>,
    initial: { entered: "" },
    fields: { entered: { label, spellcheck: false, isShown: () => typed !== undefined } },
    send: ({ entered }) => {
      if (typed !== undefined && entered !== typed) throw new Error(`Type “${typed}” to confirm`);
      return true;
    },
  });
  return answer === true;
}
