/** Starts the programs that install and run Tireless here: npm, systemctl, launchctl, other versions of it. */

import { execFile } from 'node:child_process'
import { asTirelessError, TirelessError } from '../../domain/error.ts'

export interface ProgramResult {
  /** Null: the program was ended by a signal. */
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** Contract: throws `not_found` if there is no such program, `aborted` if `signal` aborts. */
export type RunProgram = (program: string, args: readonly string[], options: ProgramOptions) => Promise<ProgramResult>

const TIMEOUT_MS = 60_000
const MOST_OUTPUT = 64 * 1024 * 1024

export const runProgram: RunProgram = (program, args, { env, signal, timeoutMs = TIMEOUT_MS }) =>
  new Promise((resolve, reject) => {
    // On Windows npm is a batch file, which only a shell starts. Its arguments come from this program and the owner.
    const shell = process.platform === 'win32' && program === 'npm'
    const options = { env, timeout: timeoutMs, maxBuffer: MOST_OUTPUT, shell, ...(signal && { signal }) }
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error?.name === 'AbortError') return reject(new TirelessError('aborted', `${program} was interrupted`))
      if (error && typeof error.code === 'string') return reject(cannotStart(program, error))
      const late = error?.killed ? `\nended after ${timeoutMs / 1000} seconds without an answer` : ''
      const exit = error ? (typeof error.code === 'number' ? error.code : null) : 0
      resolve({ exit, stdout, stderr: `${stderr}${late}` })
    })
  })

function cannotStart(program: string, error: Error): TirelessError {
  return new TirelessError(
    'not_found',
    {
      what: `${program} cannot be started`,
      got: asTirelessError(error).message,
      fix: `install ${program}, or add its folder to the PATH`,
    },
    { cause: error },
  )
}

/** Contract: the last lines of what the program said, for an error message. */
export function lastWords({ exit, stdout, stderr }: ProgramResult, lines = 4): string {
  const said = (stderr.trim() || stdout.trim()).split('\n').slice(-lines).join(' / ')
  return `exit code ${exit ?? 'none'}${said === '' ? '' : `: ${said}`}`
}
