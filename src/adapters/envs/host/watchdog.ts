/** A process that ends the commands of this one when it is stopped by the system, hangs or dies. */

import { type ChildProcess, spawn } from 'node:child_process'

export interface Watchdog {
  /** Commands may run for so many milliseconds from now. The first call starts the process. */
  allow(ms: number): void
  /** No command is running any more. */
  leave(): void
}

/** `program`: the file of the watchdog, and its arguments. */
export function createWatchdog(program: readonly string[]): Watchdog {
  let child: ChildProcess | undefined
  const start = (): ChildProcess => {
    const args = ['--disable-warning=ExperimentalWarning', ...program]
    // A session of its own: what stops or ends the group of this process must not reach it.
    const started = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    const forget = (): void => {
      if (child === started) child = undefined
    }
    started.once('error', forget).once('exit', forget)
    started.stdin?.on('error', forget)
    // It must not keep this process alive.
    started.unref()
    return started
  }
  return {
    allow(ms) {
      child ??= start()
      child.stdin?.write(`${Math.max(0, Math.floor(ms))}\n`)
    },
    leave() {
      child?.stdin?.end('left\n')
      child = undefined
    },
  }
}
