/** One todo with its checks and their last results, its notes, and what happened to it. */

import type { ComponentChildren } from 'preact'
import type { CheckResult, TodoCheck } from '../../../src/domain/todo.ts'
import { readCommand } from '../api.ts'
import type { TodoDetails } from '../api-types.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { clockTime, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { BOARD_TEXTS } from '../texts/work-board.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'

interface TodoDialogProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly code: string
  readonly session: string
  onClose(): void
}

export function TodoDialog({ context, page, code, session, onClose }: TodoDialogProps) {
  const own = BOARD_TEXTS[context.language]
  const state = useFetched(page, `${session} ${code}`, () =>
    readCommand('todo show', { code, session: session === '' ? undefined : session }),
  )
  const title = state.kind === 'ready' ? own.open(code, visibleText(state.data.title)) : visibleText(code)
  return (
    <Dialog title={title} isWide onClose={onClose}>
      {state.kind === 'ready' && <Details context={context} todo={state.data} />}
      {state.kind === 'failed' && <p class="mt-2 text-muted">{own.gone}</p>}
      <DialogButtons>
        <Button onClick={onClose}>{own.close}</Button>
      </DialogButtons>
    </Dialog>
  )
}

interface DetailsProps {
  readonly context: ViewContext
  readonly todo: TodoDetails
}

function Details({ context, todo }: DetailsProps) {
  const { language, now } = context
  const own = BOARD_TEXTS[language]
  const { status, type, proof, deps, assignee, skills, attempts, last_error, session_id, updated_at } = todo
  return (
    <div class="mt-1 flex flex-col gap-4" data-todo-details={todo.code}>
      <p class="label flex flex-wrap gap-x-2.5">
        <span>{own.statuses[status]}</span>
        {proof !== null && <span>{own.proofs[proof]}</span>}
        {type === 'Bench' && <span title={own.benchHelp}>{own.bench}</span>}
        {attempts > 0 && <span>{own.attempts(attempts)}</span>}
        <span>{own.changed(relativeTime(Date.parse(updated_at), now, language))}</span>
        <a class="text-link underline underline-offset-2" href={`/work/sessions/${encodeURIComponent(session_id)}`}>
          {own.openSession}
        </a>
      </p>
      {last_error !== null && (
        <Part label={own.facts.error}>
          <p class="wrap-anywhere whitespace-pre-wrap text-fault">{visibleText(last_error)}</p>
        </Part>
      )}
      {deps.length > 0 && <Part label={own.facts.deps}>{visibleText(deps.join(', '))}</Part>}
      {assignee !== null && <Part label={own.facts.assignee}>{visibleText(assignee)}</Part>}
      {skills.length > 0 && <Part label={own.facts.skills}>{visibleText(skills.join(', '))}</Part>}
      {todo.checks.length > 0 && <Checks context={context} todo={todo} />}
      {todo.notes.length > 0 && <Notes context={context} todo={todo} />}
      {todo.receipts.length > 0 && <Receipts context={context} todo={todo} />}
    </div>
  )
}

function Part({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <section class="min-w-0">
      <h3 class="label">{label}</h3>
      <div class="wrap-anywhere">{children}</div>
    </section>
  )
}

function Checks({ context, todo: { checks, baseline, evidence } }: DetailsProps) {
  const own = BOARD_TEXTS[context.language]
  return (
    <Part label={own.facts.checks}>
      <ul class="flex flex-col gap-2">
        {checks.map((check, at) => (
          <li key={at} class="rounded-lg border border-line px-3 py-2" data-check>
            <p class="font-mono text-[13px] wrap-anywhere">{visibleText(checkText(check, own))}</p>
            <Result context={context} label={own.before} result={baseline?.[at]} />
            <Result context={context} label={own.after} result={evidence?.[at]} />
          </li>
        ))}
      </ul>
    </Part>
  )
}

function checkText(check: TodoCheck, { checkKinds }: (typeof BOARD_TEXTS)['en']): string {
  switch (check.kind) {
    case 'command':
      return checkKinds.command(check.run, check.expect_exit ?? 0)
    case 'http':
      return checkKinds.http(check.url, check.status ?? 200)
    case 'file': {
      const { path, exists, contains } = check
      const text = exists === false ? checkKinds.fileGone(path) : checkKinds.file(path)
      return contains === undefined ? text : `${text} · ${checkKinds.contains(contains)}`
    }
  }
}

interface ResultProps {
  readonly context: ViewContext
  readonly label: string
  readonly result: CheckResult | undefined
}

function Result({ context: { language, now }, label, result }: ResultProps) {
  const { results } = BOARD_TEXTS[language]
  if (!result)
    return (
      <p class="label">
        {label}: {results.none}
      </p>
    )
  const { ok, observed, output, at } = result
  return (
    <div data-check-result={ok ? 'passed' : 'failed'}>
      <p class="text-[13px]">
        <span class="text-muted">{label}: </span>
        <span class={ok ? 'text-live' : 'text-fault'}>{ok ? results.passed : results.failed}</span>
        <span class="text-muted">
          {' '}
          · {visibleText(observed)} · {clockTime(Date.parse(at), now, language)}
        </span>
      </p>
      {!ok && output !== '' && <Output text={output} />}
    </div>
  )
}

const Output = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a long output is scrolled with the keyboard, too.
  <pre class="mt-1 max-h-40 overflow-auto rounded-md bg-sunken px-2 py-1 text-[12px] whitespace-pre-wrap" tabIndex={0}>
    {visibleText(text)}
  </pre>
)

function Notes({ context: { language, now }, todo: { notes } }: DetailsProps) {
  const own = BOARD_TEXTS[language]
  return (
    <Part label={own.facts.notes}>
      <ul class="flex flex-col gap-1">
        {notes.map(({ at, by, verb, text }, index) => (
          <li key={index}>
            <span class="label">
              {clockTime(Date.parse(at), now, language)} · {own.by[by] ?? visibleText(by)} · {own.verbs[verb] ?? verb}
            </span>
            <p class="wrap-anywhere whitespace-pre-wrap">{visibleText(text)}</p>
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Receipts({ context: { language, now }, todo: { code, receipts } }: DetailsProps) {
  const own = BOARD_TEXTS[language]
  // An action is written as `start T001`.
  const describe = (action: string): string => {
    const [verb = '', of = code] = action.split(' ')
    return `${own.verbs[verb] ?? verb}${of === code ? '' : ` ${of}`}`
  }
  return (
    <Part label={own.facts.receipts}>
      <ul>
        {receipts.map(({ op_id, at, actions, refusal }) => (
          <li key={op_id} class="flex flex-wrap gap-x-2.5">
            <span class="label figures">{clockTime(Date.parse(at), now, language)}</span>
            <span class="wrap-anywhere">{visibleText([...new Set(actions.map(describe))].join(own.between))}</span>
            {refusal !== null && <span class="text-fault">{own.refused}</span>}
          </li>
        ))}
      </ul>
    </Part>
  )
}
