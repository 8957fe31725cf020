/** Runs commands as a person does: in a shell, in a pseudo-terminal, with a home folder of their own. */

import { spawn, spawnSync } from 'node:child_process'
import { MAIN, NODE_FLAGS } from '../crash/kills.ts'

/** Why tests in a pseudo-terminal cannot run here; false: they can. */
export const noPseudoTerminal: string | false =
  spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0
    ? false
    : 'needs the program script of util-linux'

/** A command that shows nothing for so long waits for an answer that nobody gives. */
const MAX_MS = 120_000

export interface ScreenOutput {
  readonly exit: number | null
  /** What stood on the screen, without colours. */
  readonly screen: string
}

export class PseudoTerminal {
  readonly #cwd: string
  readonly #env: NodeJS.ProcessEnv

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#cwd = cwd
    this.#env = env
  }

  /** `typed`: what the person types. `until`: press Ctrl-C as soon as this is on the screen. */
  type(command: string, { typed = '', until }: { typed?: string; until?: RegExp } = {}): Promise<ScreenOutput> {
    const tireless = [process.execPath, ...NODE_FLAGS, MAIN].join(' ')
    const line = command.replace(/^(?:\.\/bin\/)?tireless\b/, tireless)
    const options = { cwd: this.#cwd, env: this.#env, timeout: MAX_MS, killSignal: 'SIGKILL' } as const
    const child = spawn('script', ['-qec', line, '/dev/null'], options)
    let output = ''
    let isInterrupted = false
    const show = (chunk: Buffer): void => {
      output += String(chunk)
      if (isInterrupted || !until?.test(withoutColours(output))) return
      isInterrupted = true
      child.stdin.write('\x03')
    }
    child.stdout.on('data', show)
    child.stderr.on('data', show)
    if (typed !== '') child.stdin.write(typed)
    return new Promise((resolve) => {
      child.once('close', (exit) => resolve({ exit, screen: withoutColours(output) }))
    })
  }
}

const ESCAPES = new RegExp(`${'\x1b'}\\[[0-9;?]*[A-Za-z]|\r`, 'g')
const withoutColours = (text: string): string => text.replaceAll(ESCAPES, '')
