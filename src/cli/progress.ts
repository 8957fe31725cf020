/** Progress on a terminal: what the agent does, as it does it. Plain lines elsewhere. */

import type { Progress } from '../commands/command.ts'
import type { Delta, Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { type Format, print, style } from './terminal.ts'

const LONGEST_LINE = 160

/** What has been shown of a run's step already, while it was under way. */
interface Shown {
  /** Whose run it is, once it has said so. */
  agent: string
  step: number
  /** Whether the model's text was, as it came. */
  text: boolean
  /** Of that text, what waits for the end of its line: in a log it is one. */
  held: string
  /** Of what a call writes, the line that has not come to its end. */
  output: string
  readonly results: Set<number>
}

export function progressView(out: NodeJS.WriteStream): { tell(progress: Progress): void; end(): void } {
  const paint = (colour: Format, text: string): string => style(colour, text, out)
  const runs = new Map<string, Shown>()
  let midLine = false

  const line = (text: string): void => {
    print(out, `${midLine ? '\n' : ''}${text}\n`)
    midLine = false
  }

  function shownOf({ run_id }: { readonly run_id: string }): Shown {
    const shown = runs.get(run_id) ?? { agent: '', step: 0, text: false, held: '', output: '', results: new Set() }
    runs.set(run_id, shown)
    return shown
  }

  function tellHeld(shown: Shown): void {
    const { held } = shown
    shown.held = ''
    if (held.trim() !== '') stepLine(shown, cut(held))
  }

  function stepLine(shown: Shown, text: string): void {
    tellHeld(shown)
    line(`${paint('dim', `${whose(shown)}step ${shown.step}`)} ${text}`)
  }

  /** Where several are at work, each line says whose it is. */
  const whose = ({ agent }: Shown): string => (runs.size > 1 && agent !== '' ? `${agent} ` : '')

  function tellDelta(delta: Delta): void {
    const shown = shownOf(delta)
    if (delta.kind === 'call') stepLine(shown, callLine(paint, delta.tool, delta.args))
    else if (delta.kind === 'result') {
      shown.results.add(delta.index)
      // The result says it all.
      shown.output = ''
      stepLine(shown, resultLine(paint, delta.status, delta.content))
    } else if (delta.kind === 'output') {
      const lines = `${shown.output}${delta.text}`.split('\n')
      shown.output = lines.pop() ?? ''
      for (const said of lines) if (said.trim() !== '') stepLine(shown, paint('dim', cut(said)))
    } else {
      shown.text = true
      if (!out.isTTY) shown.held += delta.text
      else {
        print(out, paint('dim', delta.text))
        midLine = !delta.text.endsWith('\n')
      }
    }
  }

  function tellEvent(event: Event): void {
    const shown = shownOf(event)
    if (event.step_id !== shown.step) Object.assign(shown, { step: event.step_id, text: false, results: new Set() })
    if (event.stage === 'model_output') tellHeld(shown)
    for (const text of linesOf(event, shown, paint)) stepLine(shown, text)
    if (event.phase === 'INIT') {
      shown.agent = String(event.payload.agent_id)
      line(`${paint('bold', shown.agent)} begins`)
    }
    if (event.phase !== 'END') return
    const reason = `${whose(shown)}ended: ${String(event.payload.stop_reason)}`
    runs.delete(event.run_id)
    line(event.ok ? reason : paint('red', `${reason} ${cut(event.error ?? '')}`))
  }

  return {
    tell(progress) {
      if (progress.kind === 'note') line(paint('yellow', progress.text))
      else if (progress.kind === 'event') tellEvent(progress.event)
      else if (progress.kind === 'delta') tellDelta(progress.delta)
    },
    end() {
      if (midLine) print(out, '\n')
    },
  }
}

type Paint = (colour: Format, text: string) => string

function linesOf({ phase, stage, payload, error }: Event, shown: Shown, paint: Paint): string[] {
  if (stage === 'diagnostic') return [paint('yellow', `${String(payload.about)}: ${cut(String(payload.message))}`)]
  if (stage === 'error') return [paint('red', `${String(payload.code)}: ${cut(error ?? '')}`)]
  switch (`${phase} ${stage}`) {
    case 'DECIDE model_input':
      return [`asks ${String(payload.model)}`]
    case 'DECIDE model_output':
      return shown.text || payload.text === '' ? [] : [cut(String(payload.text))]
    case 'ACT action_results':
      return resultsOf(payload.results).flatMap(({ tool, status, content }, i) =>
        shown.results.has(i) ? [] : [`${paint('cyan', tool)} ${resultLine(paint, status, content)}`],
      )
    case 'CRITIC outputs_ready':
      return verdictsOf(payload.verdicts).map(
        ({ critic, kind, said }) => `${critic} says ${paint('yellow', kind)}: ${cut(said)}`,
      )
    case 'CHECK_STOP continue':
      return payload.parked === undefined ? [] : [`parked: ${cut(String(payload.parked))}`]
    default:
      return []
  }
}

const callLine = (paint: Paint, tool: string, args: Json): string =>
  `${paint('cyan', tool)} ${cut(JSON.stringify(args))}`

const resultLine = (paint: Paint, status: string, content: string): string =>
  `${paint(status === 'ok' ? 'green' : 'red', status)} ${cut(content)}`

interface ToldResult {
  readonly tool: string
  readonly status: string
  readonly content: string
}

const resultsOf = (results: Json | undefined): readonly ToldResult[] => (results ?? []) as unknown as ToldResult[]

function verdictsOf(verdicts: Json | undefined): { critic: string; kind: string; said: string }[] {
  const told = (verdicts ?? []) as unknown as { critic: string; kind: string; instruction?: string; reason?: string }[]
  return told
    .filter(({ kind }) => kind !== 'continue')
    .map(({ critic, kind, instruction, reason }) => ({ critic, kind, said: instruction ?? reason ?? '' }))
}

function cut(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return flat.length > LONGEST_LINE ? `${flat.slice(0, LONGEST_LINE - 1)}…` : flat
}
