/**
 * What commands of runs did, seen from outside: lines that they write when they start and end, and their processes in
 * /proc. Each task has two commands, `1` and `2`, whose processes sleep for a time that names them.
 */

import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `sleep 1.0000071`: the first command of task 7. */
const SLEEP = /^sleep\0[\d.]*?\.(\d{2})(\d{5})([12])\0/
const POLL_MS = 100

interface Sighting {
  /** Milliseconds of the wall clock. */
  readonly first: number
  last: number
}

export const commandName = (task: number, command: number): string => `${task}/${command}`

export class CommandEvidence {
  readonly #file: string
  readonly #sightings = new Map<string, Sighting>()
  readonly #timer: NodeJS.Timeout

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
    return this.#sightings.get(name)?.last
  }

  /** Contract: the commands that have processes now. */
  running(): readonly string[] {
    return readdirSync('/proc').flatMap((pid) => {
      const found = /^\d+$/.test(pid) ? SLEEP.exec(commandLineOf(pid)) : null
      return found ? [commandName(Number(found[2]), Number(found[3]))] : []
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = Date.now()
    for (const name of this.running()) {
      const sighting = this.#sightings.get(name)
      if (sighting) sighting.last = now
      else this.#sightings.set(name, { first: now, last: now })
    }
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

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
