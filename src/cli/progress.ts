/** Shows the progress of runs: streamed text on a terminal, whole lines if the output is no terminal. */

import type { Progress } from '../commands/lib/progress.ts'
import type { Delta, Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { RESIDENT_ACTIONS, RESIDENT_BEHAVIOUR } from '../domain/resident.ts'
import { truncateText } from '../domain/truncate.ts'
import { type Format, printSafely, style } from './terminal.ts'
import { inOwnLanguage } from './views/language.ts'
import { sayInstantsIn } from './views/times.ts'

const MAX_LINE = 160

/** The parts of a run's current step that are already printed, or wait to be printed. */
interface RunView {
  /** Agent of the run; empty before the first event. */
  agent: string
  /** A look of a resident: only its tools and troubles are shown, because what it came to is told in one line. */
  isLook: boolean
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
  ...{ agent: '', isLook: false, step: 0, text: false, pendingText: '', output: '' },
  results: new Set(),
})

/** Prints what runs tell; `end` ends a line of streamed text that is still open. */
export class ProgressView {
  readonly #out: NodeJS.WriteStream
  readonly #paint: Paint
  readonly #runs = new Map<string, RunView>()
  /** Whether several runs were shown at once since the last time that none was running. */
  #hasSeveral = false
  #midLine = false

  /** `plain`: without colours, also on a terminal. */
  constructor(out: NodeJS.WriteStream, plain = false) {
    this.#out = out
    this.#paint = (colour, text) => (plain ? text : style(colour, text, out))
  }

  tell(progress: Progress): void {
    if (progress.kind === 'note') this.#line(this.#paint('yellow', sayInstantsIn(inOwnLanguage(progress))))
    else if (progress.kind === 'event') this.#showEvent(progress.event)
    else if (progress.kind === 'delta') this.#showDelta(progress.delta)
  }

  end(): void {
    if (this.#midLine) printSafely(this.#out, '\n')
  }

  #showEvent(event: Event): void {
    const view = this.#viewOf(event)
    if (event.step_id !== view.step) Object.assign(view, { step: event.step_id, text: false, results: new Set() })
    if (event.stage === 'model_output') this.#printPending(view)
    for (const text of linesOf(event, view, this.#paint)) this.#stepLine(view, text)
    if (event.phase === 'INIT') {
      view.agent = String(event.payload.agent_id)
      view.isLook = event.payload.behaviour === RESIDENT_BEHAVIOUR
      if (!view.isLook) this.#line(`${this.#paint('bold', view.agent)} started`)
    }
    if (event.phase === 'END') this.#showEnd(event, view)
  }

  #showEnd(event: Event, view: RunView): void {
    const reason = `${this.#agentPrefix(view)}ended: ${String(event.payload.stop_reason)}`
    this.#runs.delete(event.run_id)
    if (this.#runs.size === 0) this.#hasSeveral = false
    if (view.isLook && event.ok) return
    this.#line(event.ok ? reason : this.#paint('red', `${reason} ${cut(event.error ?? '')}`))
  }

  #showDelta(delta: Delta): void {
    const view = this.#viewOf(delta)
    if (delta.kind === 'call' && isHidden(view, delta.tool)) view.results.add(delta.index)
    else if (delta.kind === 'call') this.#stepLine(view, callLine(this.#paint, delta.tool, delta.args))
    else if (delta.kind === 'result') {
      // A resumed run: its first event names the step, and shows this result.
      if (view.step === 0 || (view.isLook && view.results.has(delta.index))) return
      view.results.add(delta.index)
      // The incomplete line is not printed: the result contains the whole output.
      view.output = ''
      this.#stepLine(view, resultLine(this.#paint, delta.status, delta.content))
    } else if (delta.kind === 'output') {
      const lines = `${view.output}${delta.text}`.split('\n')
      view.output = lines.pop() ?? ''
      for (const text of lines) if (text.trim() !== '') this.#stepLine(view, this.#paint('dim', cut(text)))
    } else this.#showText(view, delta.text)
  }

  #showText(view: RunView, text: string): void {
    view.text = true
    if (view.isLook) return
    if (!this.#out.isTTY) view.pendingText += text
    else {
      printSafely(this.#out, this.#paint('dim', text))
      this.#midLine = !text.endsWith('\n')
    }
  }

  #viewOf({ run_id }: { readonly run_id: string }): RunView {
    const view = this.#runs.get(run_id) ?? newRunView()
    this.#runs.set(run_id, view)
    if (this.#runs.size > 1) this.#hasSeveral = true
    return view
  }

  #printPending(view: RunView): void {
    const { pendingText } = view
    view.pendingText = ''
    if (pendingText.trim() !== '') this.#stepLine(view, cut(pendingText))
  }

  #stepLine(view: RunView, text: string): void {
    this.#printPending(view)
    const step = view.step === 0 ? '' : `step ${view.step}`
    const prefix = `${this.#agentPrefix(view)}${step}`.trimEnd()
    this.#line(prefix === '' ? text : `${this.#paint('dim', prefix)} ${text}`)
  }

  /** Lines start with the name of the agent in looks, and with several runs at once, also when only one is left. */
  #agentPrefix({ agent, isLook }: RunView): string {
    return (this.#hasSeveral || isLook) && agent !== '' ? `${agent} ` : ''
  }

  #line(text: string): void {
    printSafely(this.#out, `${this.#midLine ? '\n' : ''}${text}\n`)
    this.#midLine = false
  }
}

type Paint = (colour: Format, text: string) => string

function linesOf({ phase, stage, payload, error }: Event, view: RunView, paint: Paint): string[] {
  if (stage === 'diagnostic') return [paint('yellow', `${String(payload.about)}: ${cut(String(payload.message))}`)]
  if (stage === 'error') return [paint('red', `${String(payload.code)}: ${cut(error ?? '')}`)]
  switch (`${phase} ${stage}`) {
    case 'DECIDE model_input':
      return view.isLook ? [] : [`asking ${String(payload.model)}`]
    case 'DECIDE model_output':
      return view.text || view.isLook || payload.text === '' ? [] : [cut(String(payload.text))]
    case 'ACT action_results':
      return resultsOf(payload.results).flatMap(({ tool, status, content }, i) =>
        view.results.has(i) || isHidden(view, tool)
          ? []
          : [`${paint('cyan', tool)} ${resultLine(paint, status, content)}`],
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

/** The actions that end a look are told in the line of the look. */
const isHidden = ({ isLook }: RunView, tool: string): boolean =>
  isLook && (RESIDENT_ACTIONS as readonly string[]).includes(tool)

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
