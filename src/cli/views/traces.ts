/** Shows the trace of a run, a list of traces, and the comparison of two runs. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { truncateText } from '../../domain/truncate.ts'
import { style } from '../terminal.ts'
import { renderStep } from './trace-step.ts'

type ShownTrace = CommandOutput<'trace show'>
type ShownStep = NonNullable<ShownTrace['steps']>[number]
type ShownEvent = NonNullable<ShownTrace['events']>[number]
type Prompt = NonNullable<ShownTrace['prompts']>[number]

export function renderTrace({ manifest, steps, events, prompts, step, torn }: ShownTrace): string {
  if (step) return renderStep(step).join('\n')
  const { run_id, status, stop_reason, step_count, event_count, error } = manifest
  return [
    `${style('bold', String(run_id))} ${String(stop_reason ?? status)}, ${step_count} steps, ${event_count} events`,
    ...(manifest.task === null ? [] : [style('dim', cut(manifest.task))]),
    ...(steps ?? []).flatMap(stepLines),
    ...(events ?? []).map(eventLine),
    ...(prompts ?? []).flatMap(promptLines),
    ...(manifest.final_answer === null ? [] : ['', manifest.final_answer]),
    ...(error === null ? [] : [style('red', String(error))]),
    ...torn.map((file) => style('yellow', `${file} has unreadable lines, which are left out`)),
  ].join('\n')
}

function stepLines({ step_id, decision, actions, action_results, error }: ShownStep): string[] {
  return [
    `${style('dim', `step ${step_id}`)} ${decision?.kind ?? 'undecided'}`,
    ...actions.map(({ tool, args }, i) => {
      const { status = 'no result', content = '' } = action_results[i] ?? {}
      const result = `${style(status === 'ok' ? 'green' : 'red', status)} ${cut(content)}`
      return `  ${style('cyan', tool)} ${cut(JSON.stringify(args))}\n    ${result}`
    }),
    ...(error === undefined ? [] : [`  ${style('red', cut(error))}`]),
  ]
}

function eventLine({ seq, step_id, phase, stage, ok, payload, error }: ShownEvent): string {
  const name = `${phase} ${stage}`.padEnd(26)
  const details = cut(error ?? JSON.stringify(payload))
  const position = style('dim', `${String(seq).padStart(4)} ${String(step_id).padStart(3)}`)
  return `${position} ${ok ? name : style('red', name)} ${details}`
}

function promptLines({ step_id, tokens, sections, cached_share, cut: shortened, dropped }: Prompt): string[] {
  const parts = Object.entries(sections).map(([name, share]) => `${name} ${share}`)
  const cached = `${Math.floor(100 * cached_share)} % cached`
  return [
    `${style('dim', `step ${step_id}`)} about ${tokens} tokens, ${cached}: ${parts.join(' · ')}`,
    ...shortened.map((name) => `  ${style('yellow', 'cut')} ${cut(name)}`),
    ...dropped.map((name) => `  ${style('yellow', 'dropped')} ${cut(name)}`),
  ]
}

type Compared = CommandOutput<'compare'>
type Side = Compared['a']

export function renderComparison({ first_divergence, a, b }: Compared): string {
  const difference = first_divergence
    ? [
        `first difference: step ${first_divergence.step}, ${first_divergence.phase}`,
        `  ${style('cyan', 'a')} ${cut(JSON.stringify(first_divergence.a), 400)}`,
        `  ${style('magenta', 'b')} ${cut(JSON.stringify(first_divergence.b), 400)}`,
      ]
    : ['no difference']
  return [...difference, '', ...sideBySide(a, b)].join('\n')
}

function sideBySide(a: Side, b: Side): string[] {
  const rows: [string, unknown, unknown][] = [
    ...(['run_id', 'steps', 'cost_usd', 'stop_reason', 'answer'] as const).map((key): [string, unknown, unknown] => [
      key,
      a[key],
      b[key],
    ]),
    ...(Object.keys({ ...a.setup, ...b.setup }) as (keyof NonNullable<Side['setup']>)[])
      .map((key): [string, unknown, unknown] => [key, a.setup?.[key], b.setup?.[key]])
      // Of the setup, only the keys whose values differ are shown.
      .filter(([, one, other]) => JSON.stringify(one) !== JSON.stringify(other)),
  ]
  const cells = rows.map(([key, one, other]) => [key, cell(one), cell(other)] as const)
  const width = Math.max(...cells.map(([, one]) => one.length), 1)
  return [
    `${''.padEnd(12)} ${style('cyan', 'a'.padEnd(width))}  ${style('magenta', 'b')}`,
    ...cells.map(([key, one, other]) => {
      const line = `${key.padEnd(12)} ${one.padEnd(width)}  ${other}`
      return one === other || key === 'run_id' ? line : style('yellow', line)
    }),
  ]
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return cut(typeof value === 'object' ? JSON.stringify(value) : String(value), 48)
}

function cut(text: string, max = 140): string {
  return truncateText(text.replaceAll(/\s+/g, ' ').trim(), max, { includesMark: true })
}
