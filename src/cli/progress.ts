/** Shows the progress of runs: streamed text on a terminal, whole lines if the output is no terminal. */

import type { Progress } from '../commands/lib/progress.ts'
import type { Delta, Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { truncateText } from '../domain/truncate.ts'
import { type Format, printSafely, style } from './terminal.ts'

const MAX_LINE = 160

/** The parts of a run's current step that are already printed, or wait to be printed. */
interface RunView {
  /** Agent of the run; empty before the first event. */
  agent: string
  step: number
  /** Whether the model's text was printed while it streamed. */
  text: boolean
  /** Streamed text that is printed when its message ends. Used only if the output is no terminal. */
  pendingText: string
  /** The last line of a tool's output, as long as it is incomplete. */
  output: string
  readonly results: Set<number>
}

const newRunView = (): RunView => ({
  ...{ agent: '', step: 0, text: false, pendingText: '', output: '' },
  results: new Set(),
})

/** `plain`: without colours, also on a terminal. */
export function progressView(out: NodeJS.WriteStream, plain = false): { tell(progress: Progress): void; end(): void } {
  const paint = (colour: Format, text: string): string => (plain ? text : style(colour, text, out))
  const runs = new Map<string, RunView>()
  let midLine = false

  const line = (text: string): void => {
    printSafely(out, `${midLine ? '\n' : ''}${text}\n`)
    midLine = false
  }

  function viewOf({ run_id }: { readonly run_id: string }): RunView {
    const view = runs.get(run_id) ?? newRunView()
    runs.set(run_id, view)
    return view
  }

  function printPending(view: RunView): void {
    const { pendingText } = view
    view.pendingText = ''
    if (pendingText.trim() !== '') stepLine(view, cut(pendingText))
  }

  function stepLine(view: RunView, text: string): void {
    printPending(view)
    line(`${paint('dim', `${agentPrefix(view)}step ${view.step}`)} ${text}`)
  }

  /** With several runs at once, each line starts with the name of its agent. */
  const agentPrefix = ({ agent }: RunView): string => (runs.size > 1 && agent !== '' ? `${agent} ` : '')

  function showDelta(delta: Delta): void {
    const view = viewOf(delta)
    if (delta.kind === 'call') stepLine(view, callLine(paint, delta.tool, delta.args))
    else if (delta.kind === 'result') {
      view.results.add(delta.index)
      // The incomplete line is not printed: the result contains the whole output.
      view.output = ''
      stepLine(view, resultLine(paint, delta.status, delta.content))
    } else if (delta.kind === 'output') {
      const lines = `${view.output}${delta.text}`.split('\n')
      view.output = lines.pop() ?? ''
      for (const text of lines) if (text.trim() !== '') stepLine(view, paint('dim', cut(text)))
    } else {
      view.text = true
      if (!out.isTTY) view.pendingText += delta.text
      else {
        printSafely(out, paint('dim', delta.text))
        midLine = !delta.text.endsWith('\n')
      }
    }
  }

  function showEvent(event: Event): void {
    const view = viewOf(event)
    if (event.step_id !== view.step) Object.assign(view, { step: event.step_id, text: false, results: new Set() })
    if (event.stage === 'model_output') printPending(view)
    for (const text of linesOf(event, view, paint)) stepLine(view, text)
    if (event.phase === 'INIT') {
      view.agent = String(event.payload.agent_id)
      line(`${paint('bold', view.agent)} started`)
    }
    if (event.phase !== 'END') return
    const reason = `${agentPrefix(view)}ended: ${String(event.payload.stop_reason)}`
    runs.delete(event.run_id)
    line(event.ok ? reason : paint('red', `${reason} ${cut(event.error ?? '')}`))
  }

  return {
    tell(progress) {
      if (progress.kind === 'note') line(paint('yellow', progress.text))
      else if (progress.kind === 'event') showEvent(progress.event)
      else if (progress.kind === 'delta') showDelta(progress.delta)
    },
    end() {
      if (midLine) printSafely(out, '\n')
    },
  }
}

type Paint = (colour: Format, text: string) => string

function linesOf({ phase, stage, payload, error }: Event, view: RunView, paint: Paint): string[] {
  if (stage === 'diagnostic') return [paint('yellow', `${String(payload.about)}: ${cut(String(payload.message))}`)]
  if (stage === 'error') return [paint('red', `${String(payload.code)}: ${cut(error ?? '')}`)]
  switch (`${phase} ${stage}`) {
    case 'DECIDE model_input':
      return [`asking ${String(payload.model)}`]
    case 'DECIDE model_output':
      return view.text || payload.text === '' ? [] : [cut(String(payload.text))]
    case 'ACT action_results':
      return resultsOf(payload.results).flatMap(({ tool, status, content }, i) =>
        view.results.has(i) ? [] : [`${paint('cyan', tool)} ${resultLine(paint, status, content)}`],
      )
    case 'CRITIC outputs_ready':
      return verdictsOf(payload.verdicts).map(
        ({ critic, kind, text }) => `critic ${critic}: ${paint('yellow', kind)}: ${cut(text)}`,
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

interface ShownResult {
  readonly tool: string
  readonly status: string
  readonly content: string
}

const resultsOf = (results: Json | undefined): readonly ShownResult[] => (results ?? []) as unknown as ShownResult[]

function verdictsOf(verdicts: Json | undefined): { critic: string; kind: string; text: string }[] {
  const all = (verdicts ?? []) as unknown as { critic: string; kind: string; instruction?: string; reason?: string }[]
  return all
    .filter(({ kind }) => kind !== 'continue')
    .map(({ critic, kind, instruction, reason }) => ({ critic, kind, text: instruction ?? reason ?? '' }))
}

function cut(text: string): string {
  return truncateText(text.replaceAll(/\s+/g, ' ').trim(), MAX_LINE, { includesMark: true })
}
