/** Running runs: steps, streamed text and calls of the current step. */

import { Card, Dot, Empty, Section, toneOf } from '../components.tsx'
import { duration, jsonLine, oneLine, visibleText } from '../format.ts'
import type { CallView, RunView, StepView } from '../run-view.ts'
import { describeStop } from '../texts/reasons.ts'
import type { ViewContext } from '../view-context.ts'
import { Legend, Waterfall } from './waterfall.tsx'

interface RunningProps {
  readonly context: ViewContext
  readonly runs: readonly RunView[]
}

export function Running({ context, runs }: RunningProps) {
  const { texts } = context
  return (
    <Section title={texts.running} note={runs.length > 0 && <Legend context={context} />}>
      {runs.length === 0 ? (
        <Card>
          <Empty>
            {texts.nothingRuns}
            <br />
            {texts.nothingRunsMore}
          </Empty>
        </Card>
      ) : (
        <div class="flex flex-col gap-4">
          {runs.map((run) => (
            <Run key={run.id} context={context} run={run} />
          ))}
        </div>
      )}
    </Section>
  )
}

function Run({ context, run }: { readonly context: ViewContext; readonly run: RunView }) {
  const { texts, language, now } = context
  const step = run.steps.at(-1)
  const task = oneLine(run.isLook ? run.saw || texts.look : run.task)
  const phase = step?.spans.at(-1)?.phase ?? 'INIT'
  const state = run.state === 'running' ? (texts.phases[phase] ?? phase) : (texts.runStates[run.state] ?? run.state)
  return (
    <Card class="p-4 sm:p-5">
      <article data-run={run.id} data-state={run.state} aria-label={`${run.agent}: ${task}`}>
        <header class="flex flex-wrap items-baseline gap-x-3 gap-y-1">
          <span class="flex items-center gap-2 font-semibold">
            <Dot tone={toneOf(run.state)} pulsing={run.state === 'running'} />
            {run.agent}
          </span>
          <span class="label">
            {step && `${texts.step(step.id)} · `}
            {state}
          </span>
          <span class="label hidden font-mono sm:inline">{visibleText(run.model ?? '')}</span>
          <span class="figures ml-auto text-muted">{duration((run.to ?? now) - run.from, language)}</span>
        </header>
        <p class="mt-1 line-clamp-2 text-muted">{task}</p>
        <Waterfall context={context} run={run} />
        {run.state === 'running' && step ? (
          <CurrentStep context={context} step={step} />
        ) : (
          <p class="mt-3 line-clamp-3 whitespace-pre-wrap">
            {visibleText(run.answer || describeStop(run.reason, language))}
          </p>
        )}
      </article>
    </Card>
  )
}

function CurrentStep({ context: { texts }, step }: { readonly context: ViewContext; readonly step: StepView }) {
  const isThinking = step.spans.at(-1)?.phase === 'DECIDE' && step.text === '' && step.calls.length === 0
  return (
    <div class="mt-3 flex flex-col gap-2">
      {isThinking && <p class="pulsing text-muted">{texts.thinking}…</p>}
      {step.text !== '' && (
        <div class="flex max-h-40 flex-col-reverse overflow-y-auto rounded-lg bg-sunken px-3 py-2">
          <p class="wrap-anywhere whitespace-pre-wrap">{visibleText(step.text)}</p>
        </div>
      )}
      {step.calls.map((call, i) => (
        <Call key={i} call={call} />
      ))}
      {step.fault !== null && <p class="text-fault">{oneLine(step.fault)}</p>}
    </div>
  )
}

function Call({ call: { tool, args, status, content } }: { readonly call: CallView }) {
  return (
    <div class="grid grid-cols-[auto_1fr] gap-x-2 font-mono text-[13px]" data-call={tool}>
      <span class="flex h-5 items-center">
        <Dot tone={status === null ? 'other' : toneOf(status)} pulsing={status === null} />
      </span>
      <span class="min-w-0 truncate">
        <span class="text-act">{visibleText(tool)}</span> <span class="text-muted">{jsonLine(args)}</span>
      </span>
      {content !== '' && <span class="col-start-2 line-clamp-2 wrap-anywhere text-muted">{oneLine(content)}</span>}
    </div>
  )
}
