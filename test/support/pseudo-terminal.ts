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

const MAX_STEPS_MS = 100_000

export interface ScreenOutput {
  readonly exit: number | null
  /** What stood on the screen, without colours. */
  readonly screen: string
}

export interface ScreenStep {
  readonly sees: RegExp
  readonly types: string
}

export class PseudoTerminal {
  readonly #cwd: string
  readonly #env: NodeJS.ProcessEnv

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#cwd = cwd
    this.#env = env
  }

  /**
   * A conversation with one command: each step types its keys as soon as the screen shows `sees` below what the step
   * before has seen. Contract: rejects with the screen if a step is not reached.
   */
  async converse(command: string, steps: readonly ScreenStep[]): Promise<ScreenOutput> {
    const child = this.#spawn(command)
    let [output, from, reached] = ['', 0, 0]
    const show = (chunk: Buffer): void => {
      output += String(chunk)
      for (let step = steps[reached]; step; step = steps[reached]) {
        const screen = withoutColours(output)
        const found = step.sees.exec(screen.slice(from))
        if (!found) return
        from += found.index + found[0].length
        reached += 1
        child.stdin.write(step.types)
      }
    }
    child.stdout.on('data', show)
    child.stderr.on('data', show)
    const limit = setTimeout(() => child.kill('SIGTERM'), MAX_STEPS_MS)
    const exit = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    clearTimeout(limit)
    const screen = withoutColours(output)
    if (reached < steps.length) throw new Error(`the screen never showed ${steps[reached]?.sees}:\n${screen}`)
    return { exit, screen }
  }

  #spawn(command: string) {
    const tireless = [process.execPath, ...NODE_FLAGS, MAIN].join(' ')
    const line = command.replace(/^(?:\.\/bin\/)?tireless\b/, tireless)
    // As bin/tireless does: without compiled code a command takes twice as long.
    const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...this.#env }
    const options = { cwd: this.#cwd, env, timeout: MAX_MS, killSignal: 'SIGKILL' } as const
    return spawn('script', ['-qec', line, '/dev/null'], options)
  }

  /** `typed`: what the person types. `until`: press `key` (by default Ctrl-C) as soon as this is on the screen. */
  type(
    command: string,
    { typed = '', until, key = '\x03' }: { typed?: string; until?: RegExp; key?: string } = {},
  ): Promise<ScreenOutput> {
    const child = this.#spawn(command)
    let output = ''
    let isInterrupted = false
    const show = (chunk: Buffer): void => {
      output += String(chunk)
      if (isInterrupted || !until?.test(withoutColours(output))) return
      isInterrupted = true
      child.stdin.write(key)
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
