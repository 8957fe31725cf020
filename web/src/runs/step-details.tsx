/** Everything about one step: what was observed, sent, answered, called and decided. Fetched when it is opened. */

import { readCommand } from '../api.ts'
import { visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import type { PageState } from '../page-state.ts'
import { useOnce } from '../use-once.ts'
import { Calls } from './calls.tsx'
import { PromptView } from './prompt-view.tsx'
import type { RunsContext } from './runs-context.ts'
import { type FullStep, LongText, Part, Pill } from './step-parts.tsx'
import { asText, observedParts } from './step-words.ts'
import type { RunStep } from './steps.ts'

interface StepDetailsProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly run: string
  readonly step: RunStep
}

export function StepDetails({ context, page, run, step }: StepDetailsProps) {
  // An open step goes on: each of its events may have added something.
  const key = `${run} ${step.id} ${step.events}`
  const full = useOnce(page, key, async () => (await readCommand('trace show', { run, step: step.id })).step)
  if (!full) return <p class="text-muted">{context.own.loading}</p>
  return (
    <div class="flex min-w-0 flex-col gap-4">
      <Observed context={context} step={full} />
      <PromptView context={context} page={page} run={run} step={full} />
      <Answer context={context} step={full} />
      <Calls context={context} step={full} />
      <Failures context={context} step={full} />
      <Ending context={context} step={full} />
    </div>
  )
}

interface PartProps {
  readonly context: RunsContext
  readonly step: FullStep
}

function Observed({ context: { own }, step: { input, feedback, recalled, observation } }: PartProps) {
  const parts = observedParts(observation)
  if (input.length === 0 && feedback === null && parts.length === 0 && recalled === null) return null
  return (
    <Part title={own.observed}>
      <div class="flex flex-col gap-2">
        {input.map((observed) => (
          <div key={observed.id} class="min-w-0">
            <span class="flex gap-2">
              {observed.label?.trust === 'untrusted' && <Pill tone="text-wait">{own.untrusted}</Pill>}
              {observed.label?.private && <Pill>{own.private}</Pill>}
            </span>
            {observed.type === 'user_message' ? (
              <p class="wrap-anywhere whitespace-pre-wrap" dir="auto">
                {visibleText(observed.text)}
              </p>
            ) : (
              <LongText text={`${observed.name} ${asText(observed.payload)}`.trim()} />
            )}
          </div>
        ))}
        {parts.map(({ name, text }) => (
          <div key={name} class="min-w-0" data-observed={name}>
            {name !== '' && <span class="label">{own.observedParts[name] ?? visibleText(name)}</span>}
            <LongText text={text} />
          </div>
        ))}
        {recalled?.facts.map(({ id, key, text }) => (
          <p key={id} class="wrap-anywhere">
            <span class="label">
              {own.recalled}: {visibleText(key)}
            </span>{' '}
            {visibleText(text)}
          </p>
        ))}
        {feedback !== null && (
          <p class="wrap-anywhere whitespace-pre-wrap">
            <span class="label">{own.feedback}: </span>
            {visibleText(feedback)}
          </p>
        )}
      </div>
    </Part>
  )
}

function Answer({ context: { own }, step: { answer } }: PartProps) {
  if (answer === null) return null
  const { text, notes = {}, fault, reasoning } = answer
  if (text === '' && fault === undefined && Object.keys(notes).length === 0 && reasoning === undefined) return null
  return (
    <Part title={own.answered}>
      <div class="flex flex-col gap-2" data-step-answer>
        {reasoning !== undefined && (
          <details>
            <summary class="label w-fit cursor-pointer hover:text-ink">{own.reasoning}</summary>
            <LongText text={JSON.stringify(reasoning, null, 2)} />
          </details>
        )}
        {text !== '' && <Markdown text={text} />}
        {Object.entries(notes).map(([name, note]) => (
          <p key={name} class="wrap-anywhere text-muted">
            {visibleText(name)}: {visibleText(note)}
          </p>
        ))}
        {fault !== undefined && (
          <p class="wrap-anywhere text-fault">
            {own.fault}: {visibleText(fault)}
          </p>
        )}
      </div>
    </Part>
  )
}

function Failures({ context: { own, texts }, step: { failures, diagnoses } }: PartProps) {
  if (failures.length + diagnoses.length === 0) return null
  return (
    <Part title={own.errors}>
      <ul class="flex flex-col gap-1.5" data-step-errors>
        {failures.map(({ ts, phase, code, message, ruling }) => (
          <li key={`${ts} ${code}`} class="wrap-anywhere text-fault">
            <Pill>{own.recoveries[ruling.kind] ?? ruling.kind}</Pill> {texts.phases[phase] ?? phase} · {code}:{' '}
            {visibleText(message)}
          </li>
        ))}
        {diagnoses.map(({ about, message }) => (
          <li key={`${about} ${message}`} class="wrap-anywhere text-muted">
            {visibleText(about)}: {visibleText(message)}
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Ending({ context: { own }, step: { end } }: PartProps) {
  if (end === null) return null
  const { next, verdicts = [], patch } = end
  const why = 'why' in next ? next.why : 'wait' in next ? next.wait.reason : ''
  return (
    <>
      {verdicts.length > 0 && (
        <Part title={own.critics}>
          <ul class="flex flex-col gap-1">
            {verdicts.map(({ critic, verdict }) => (
              <li key={critic} class="wrap-anywhere">
                <Pill>{own.verdicts[verdict.kind] ?? verdict.kind}</Pill> {visibleText(critic)}{' '}
                {verdict.kind === 'retry' && visibleText(verdict.instruction)}
                {verdict.kind === 'stop' && visibleText(verdict.reason)}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {patch !== undefined && (
        <details>
          <summary class="label w-fit cursor-pointer hover:text-ink">{own.stateChange}</summary>
          <LongText text={JSON.stringify(patch, null, 2)} />
        </details>
      )}
      <p class="wrap-anywhere">
        <span class="label">{own.next}: </span>
        {own.nexts[next.kind] ?? next.kind}
        {why !== '' && ` (${visibleText(why)})`}
      </p>
    </>
  )
}
