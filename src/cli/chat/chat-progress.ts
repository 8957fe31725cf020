/** Shows what runs do while a person waits for the answer: streamed text, and one line per call. */

import type { Progress } from '../../commands/lib/progress.ts'
import type { Delta } from '../../domain/event.ts'
import { truncateText } from '../../domain/truncate.ts'
import { printSafely, style } from '../terminal.ts'
import { terminalLanguage } from '../views/language.ts'

const MAX_LINE = 120
/** Calls whose content is the answer itself. */
const ANSWERING: ReadonlySet<string> = new Set(['route', 'finish'])

export class ChatProgress {
  readonly #out: NodeJS.WriteStream
  #midLine = false
  /** The runs that are at work, as far as they were seen. */
  readonly runs = new Set<string>()

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
  }

  tell(progress: Progress): void {
    if (progress.kind === 'note') this.line((terminalLanguage() === 'zh' && progress.zh) || progress.text)
    else if (progress.kind === 'delta') this.#showDelta(progress.delta)
    else if (progress.kind === 'event') {
      const { run_id, phase, stage, error } = progress.event
      if (phase === 'END') this.runs.delete(run_id)
      else this.runs.add(run_id)
      if (stage === 'error' && error !== undefined) this.line(style('red', cut(error), this.#out))
    }
  }

  /** Ends a line of streamed text that is still open. */
  end(): void {
    if (this.#midLine) printSafely(this.#out, '\n')
    this.#midLine = false
  }

  line(text: string): void {
    this.end()
    printSafely(this.#out, `${style('dim', text, this.#out)}\n`)
  }

  #showDelta(delta: Delta): void {
    if (delta.kind === 'text') {
      // Without a terminal, the answer alone is printed.
      if (!this.#out.isTTY || delta.text === '') return
      printSafely(this.#out, style('dim', delta.text, this.#out))
      this.#midLine = !delta.text.endsWith('\n')
    } else if (delta.kind === 'call' && !ANSWERING.has(delta.tool))
      this.line(`· ${delta.tool} ${cut(JSON.stringify(delta.args))}`)
    else if (delta.kind === 'result' && delta.status !== 'ok')
      this.line(`  ${delta.tool}: ${delta.status} ${cut(delta.content)}`)
  }
}

const cut = (text: string): string =>
  truncateText(text.replaceAll(/\s+/g, ' ').trim(), MAX_LINE, { includesMark: true })
