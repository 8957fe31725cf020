/** A process of a queue, as the suite sees it, and the span in which all processes of a crew worked at full speed. */

import type { ChildProcess } from 'node:child_process'
import { startProcess } from '../server-process.ts'
import type { Mark, QueueAnswer, QueueOrder, QueueRequest } from './protocol.ts'

type AnswerOf<K extends QueueAnswer['kind']> = Extract<QueueAnswer, { kind: K }>

export class QueueProcess {
  readonly #child: ChildProcess
  readonly #waiting = new Map<QueueAnswer['kind'], (answer: QueueAnswer) => void>()
  readonly #ended: Promise<never>
  #stderr = ''
  #done = 0

  private constructor(file: string, order: QueueOrder) {
    this.#child = startProcess(file, order)
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-4000)
    })
    this.#ended = new Promise((_, reject) => {
      this.#child.once('exit', (code, signal) => reject(new Error(`${file}: ${signal ?? code}\n${this.#stderr}`)))
    })
    this.#ended.catch(() => undefined)
    this.#child.on('message', (answer: QueueAnswer) => {
      if (answer.kind === 'progress') this.#done = answer.done
      else this.#waiting.get(answer.kind)?.(answer)
    })
  }

  /** `file`: below `bench/`. */
  static async start(file: string, order: QueueOrder): Promise<QueueProcess> {
    const started = new QueueProcess(file, order)
    await started.#next('ready')
    return started
  }

  /** Jobs that it has told to be done. */
  get done(): number {
    return this.#done
  }

  /** Contract: throws with the output of the process if that ends first. */
  ask<K extends QueueAnswer['kind']>(request: QueueRequest, kind: K): Promise<AnswerOf<K>> {
    const answer = this.#next(kind)
    this.#child.send(request)
    return answer
  }

  #next<K extends QueueAnswer['kind']>(kind: K): Promise<AnswerOf<K>> {
    const answer = new Promise<QueueAnswer>((resolve) => this.#waiting.set(kind, resolve))
    return Promise.race([answer, this.#ended]) as Promise<AnswerOf<K>>
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#ended.catch(() => undefined)
  }
}

/** From the moment when the last process had finished its first job until the first one stopped. */
interface Span {
  readonly from: number
  readonly until: number
}

/** Contract: throws if they did not work at the same time. */
export function commonSpan(crew: readonly (readonly Mark[])[]): Span {
  const from = Math.max(...crew.map((marks) => marks.find(({ done }) => done > 0)?.at ?? Number.POSITIVE_INFINITY))
  const until = Math.min(...crew.map((marks) => marks.at(-1)?.at ?? 0))
  if (from < until) return { from, until }
  throw new Error('the processes never worked at the same time: there are too few jobs')
}

/** Contract: the growth of a value within a span; between two marks it grows evenly. */
export function growthIn(marks: readonly Mark[], { from, until }: Span, key: 'done' | 'cpuMs'): number {
  return valueAt(marks, until, key) - valueAt(marks, from, key)
}

function valueAt(marks: readonly Mark[], at: number, key: 'done' | 'cpuMs'): number {
  const next = marks.findIndex((mark) => mark.at >= at)
  const [before, after] = [marks[next - 1], marks[next]]
  if (!after) return marks.at(-1)?.[key] ?? 0
  if (!before) return after[key]
  return before[key] + ((after[key] - before[key]) * (at - before.at)) / (after.at - before.at)
}
