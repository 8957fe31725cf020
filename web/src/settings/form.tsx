/** Forms of Settings: fields with their own errors, secrets that are never shown, and commands that answer in place. */

import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { CommandInput, CommandName, CommandOutput } from '../../../src/commands/lib/registry.ts'
import { ApiError, readCommand, runCommand } from '../api.ts'
import type { Language } from '../format.ts'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { translateError } from '../texts/settings/errors.ts'

const INPUT_CLASSES = 'w-full min-w-0 rounded-md border border-line bg-surface px-2.5 py-1.5 placeholder:text-muted'

interface FieldProps {
  readonly label: string
  readonly help?: ComponentChildren
  readonly error?: string | undefined
}

interface TextFieldProps extends FieldProps {
  readonly value: string
  readonly placeholder?: string
  /** Suggestions that the browser offers while people type. */
  readonly suggestions?: readonly string[]
  readonly isMono?: boolean
  readonly inputMode?: 'text' | 'decimal' | 'url'
  onChange(value: string): void
}

export function TextField({ label, help, error, value, onChange, isMono = false, ...more }: TextFieldProps) {
  const id = useId()
  const { placeholder, suggestions = [], inputMode = 'text' } = more
  return (
    <FieldFrame {...{ id, label, help, error }}>
      <input
        id={id}
        class={`${INPUT_CLASSES} ${isMono ? 'font-mono' : ''} ${error === undefined ? '' : 'border-fault'}`}
        {...{ value, placeholder, inputMode, spellcheck: false, autocomplete: 'off' }}
        list={suggestions.length > 0 ? `${id}-list` : undefined}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-help`}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={`${id}-list`}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </FieldFrame>
  )
}

/** The value is in the memory of this form only, until it is sent. */
export function SecretField({ label, help, error, value, onChange }: Omit<TextFieldProps, 'isMono'>) {
  const id = useId()
  return (
    <FieldFrame {...{ id, label, help, error }}>
      <input
        id={id}
        type="password"
        class={`${INPUT_CLASSES} font-mono ${error === undefined ? '' : 'border-fault'}`}
        {...{ value, spellcheck: false, autocomplete: 'off' }}
        data-secret
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-help`}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </FieldFrame>
  )
}

interface ChoiceFieldProps<T extends string> extends FieldProps {
  readonly value: T
  readonly choices: readonly (readonly [T, string])[]
  onChange(value: T): void
}

export function ChoiceField<T extends string>({ label, help, error, value, choices, onChange }: ChoiceFieldProps<T>) {
  const id = useId()
  return (
    <FieldFrame {...{ id, label, help, error }}>
      <select
        id={id}
        class={INPUT_CLASSES}
        aria-describedby={`${id}-help`}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value as T)}
      >
        {choices.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </FieldFrame>
  )
}

interface CheckFieldProps {
  readonly label: string
  readonly isChecked: boolean
  onChange(isChecked: boolean): void
}

export function CheckField({ label, isChecked, onChange }: CheckFieldProps) {
  return (
    <label class="flex items-start gap-2">
      <input
        type="checkbox"
        class="mt-1"
        checked={isChecked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}

function FieldFrame({ id, label, help, error, children }: FieldProps & { id: string; children: ComponentChildren }) {
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <label class="font-medium" for={id}>
        {label}
      </label>
      {children}
      <div id={`${id}-help`} class="label empty:hidden">
        {error !== undefined && (
          <p class="text-[13px] text-fault wrap-anywhere" role="alert">
            {visibleText(error)}
          </p>
        )}
        {help}
      </div>
    </div>
  )
}

interface Action {
  readonly busy: boolean
  /** What went wrong, in the language of the page; null: nothing. */
  readonly error: string | null
  /** Contract: undefined if it failed. `done`: said when it worked; empty: nothing. */
  run<Name extends CommandName>(
    command: Name,
    input: CommandInput<Name>,
    done?: string | ((output: CommandOutput<Name>) => string),
  ): Promise<CommandOutput<Name> | undefined>
  /** Contract: the same for a command that only reads. */
  read<Name extends CommandName>(command: Name, input: CommandInput<Name>): Promise<CommandOutput<Name> | undefined>
  fail(error: string | null): void
}

/** Commands of one form: busy while they run; an error stays in the form, where the owner can mend it. */
export function useAction(page: PageState, language: Language): Action {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const attempt = async <T,>(work: () => Promise<T>): Promise<T | undefined> => {
    setBusy(true)
    setError(null)
    try {
      return await work()
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.code !== 'unauthorized')
        setError(translateError(thrown.message, language))
      else page.reportFailure(thrown)
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return {
    ...{ busy, error, fail: setError },
    read: (command, input) => attempt(() => readCommand(command, input)),
    run: (command, input, done = '') =>
      attempt(async () => {
        const output = await runCommand(command, input)
        const text = typeof done === 'string' ? done : done(output)
        if (text !== '') page.toasts.add('live', text)
        page.refresh()
        return output
      }),
  }
}

/** What is wrong with the form as a whole. */
export function FormError({ error }: { readonly error: string | null }) {
  if (error === null) return null
  return (
    <p class="rounded-md border border-fault px-3 py-2 text-fault wrap-anywhere" role="alert" data-form-error>
      {visibleText(error)}
    </p>
  )
}

export const Command = ({ children }: { readonly children: string }) => (
  <code class="block rounded-md bg-sunken px-3 py-2 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
    {children}
  </code>
)
