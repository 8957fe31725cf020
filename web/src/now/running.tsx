/** Running runs: steps, streamed text and calls of the current step. */

import { duration, jsonLine, oneLine } from '../format.ts'
import { Card, Dot, Empty, Section, toneOf } from '../parts.tsx'
import type { ShownCall, ShownRun, ShownStep } from '../runs.ts'
import type { Scene } from './now.tsx'
import { Legend, Waterfall } from './waterfall.tsx'

interface RunningProps {
  readonly scene: Scene
  readonly runs: readonly ShownRun[]
}

export function Running({ scene, runs }: RunningProps) {
  const { words } = scene
  return (
    <Section title={words.running} note={runs.length > 0 && <Legend scene={scene} />}>
      {runs.length === 0 ? (
        <Card>
          <Empty>
            {words.nothingRuns}
            <br />
            {words.nothingRunsMore}
          </Empty>
        </Card>
      ) : (
        <div class="flex flex-col gap-4">
          {runs.map((run) => (
            <Run key={run.id} scene={scene} run={run} />
          ))}
        </div>
      )}
    </Section>
  )
}

function Run({ scene, run }: { readonly scene: Scene; readonly run: ShownRun }) {
  const { words, language, now } = scene
  const step = run.steps.at(-1)
  const phase = step?.spans.at(-1)?.phase ?? 'INIT'
  const state = run.state === 'running' ? (words.phases[phase] ?? phase) : (words.runStates[run.state] ?? run.state)
  return (
    <Card class="p-4 sm:p-5">
      <article data-run={run.id} data-state={run.state} aria-label={`${run.agent}: ${oneLine(run.task)}`}>
        <header class="flex flex-wrap items-baseline gap-x-3 gap-y-1">
          <span class="flex items-center gap-2 font-semibold">
            <Dot tone={toneOf(run.state)} breathing={run.state === 'running'} />
            {run.agent}
          </span>
          <span class="label">
            {step && `${words.step(step.id)} · `}
            {state}
          </span>
          <span class="label hidden font-mono sm:inline">{run.model}</span>
          <span class="figures ml-auto text-muted">{duration((run.to ?? now) - run.from, language)}</span>
        </header>
        <p class="mt-1 line-clamp-2 text-muted">{oneLine(run.task)}</p>
        <Waterfall scene={scene} run={run} />
        {run.state === 'running' && step ? (
          <StepNow scene={scene} step={step} />
        ) : (
          <p class="mt-3 line-clamp-3 whitespace-pre-wrap">{run.answer || run.reason}</p>
        )}
      </article>
    </Card>
  )
}

function StepNow({ scene: { words }, step }: { readonly scene: Scene; readonly step: ShownStep }) {
  const isThinking = step.spans.at(-1)?.phase === 'DECIDE' && step.text === '' && step.calls.length === 0
  return (
    <div class="mt-3 flex flex-col gap-2">
      {isThinking && <p class="breathing text-muted">{words.thinking}…</p>}
      {step.text !== '' && (
        <div class="flex max-h-40 flex-col-reverse overflow-y-auto rounded-lg bg-sunken px-3 py-2">
          <p class="break-words whitespace-pre-wrap">{step.text}</p>
        </div>
      )}
      {step.calls.map((call, i) => (
        <Call key={i} call={call} />
      ))}
      {step.fault !== null && <p class="text-fault">{oneLine(step.fault)}</p>}
    </div>
  )
}

function Call({ call: { tool, args, status, content } }: { readonly call: ShownCall }) {
  return (
    <div class="grid grid-cols-[auto_1fr] gap-x-2 font-mono text-[13px]" data-call={tool}>
      <span class="flex h-5 items-center">
        <Dot tone={status === null ? 'other' : toneOf(status)} breathing={status === null} />
      </span>
      <span class="min-w-0 truncate">
        <span class="text-act">{tool}</span> <span class="text-muted">{jsonLine(args)}</span>
      </span>
      {content !== '' && <span class="col-start-2 line-clamp-2 break-words text-muted">{oneLine(content)}</span>}
    </div>
  )
}
