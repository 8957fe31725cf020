/**
 * What commands of runs did, seen from outside: lines that they write when they start and end, and their processes in
 * /proc. Each task has two commands, `1` and `2`, whose processes sleep for a time that names them.
 */

import { appendFileSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** `sleep 1.0000071`: the first command of task 7. */
const SLEEP = /^sleep\0[\d.]*?\.(\d{2})(\d{5})([12])\0/
const POLL_MS = 100

interface RunningCommand {
  readonly name: string
  /** The folder that its process works in. */
  readonly folder: string
}

export const commandName = (task: number, command: number): string => `${task}/${command}`

export class CommandEvidence {
  readonly #file: string
  /** When a process of each command was last seen, in milliseconds of the wall clock. */
  readonly #lastSeen = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  /** Called with the commands that have processes, many times a second. */
  onLook: (running: readonly RunningCommand[]) => void = () => {}

  constructor(folder: string) {
    this.#file = join(folder, 'evidence')
    appendFileSync(this.#file, '')
    this.#timer = setInterval(() => this.#look(), POLL_MS)
  }

  /** `seconds`: two digits after the point at most. Its process tree has two levels. */
  commandFor(task: number, command: number, seconds: number): string {
    const time = `${seconds.toFixed(2)}${String(task).padStart(5, '0')}${command}`
    const line = (word: string): string => `echo ${word} ${commandName(task, command)} $(date +%s%3N) >> ${this.#file}`
    return `${line('start')}; (sleep ${time}; true); ${line('end')}`
  }

  /** Contract: the instants at which each command started. */
  starts(): ReadonlyMap<string, readonly number[]> {
    return this.#lines('start')
  }

  ends(): ReadonlyMap<string, readonly number[]> {
    return this.#lines('end')
  }

  /** Contract: when a process of the command was last seen; undefined: never. */
  lastSeen(name: string): number | undefined {
    return this.#lastSeen.get(name)
  }

  /** Contract: the commands that have processes now. */
  running(): readonly RunningCommand[] {
    return readdirSync('/proc').flatMap((pid) => {
      const found = /^\d+$/.test(pid) ? SLEEP.exec(commandLineOf(pid)) : null
      return found ? [{ name: commandName(Number(found[2]), Number(found[3])), folder: folderOf(pid) }] : []
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const running = this.running()
    for (const { name } of running) this.#lastSeen.set(name, Date.now())
    this.onLook(running)
  }

  #lines(word: string): ReadonlyMap<string, readonly number[]> {
    const found = new Map<string, number[]>()
    for (const line of readFileSync(this.#file, 'utf8').split('\n')) {
      const [kind, name = '', at] = line.split(' ')
      if (kind === word) found.set(name, [...(found.get(name) ?? []), Number(at)])
    }
    return found
  }
}

const commandLineOf = (pid: string): string => orNone(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
const folderOf = (pid: string): string => orNone(() => readlinkSync(`/proc/${pid}/cwd`))

/** The process may end at any moment. */
function orNone(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
