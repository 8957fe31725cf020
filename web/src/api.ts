/** Client of the server's API: runs commands by name. */

import type { CommandName, CommandOutput } from '../../src/commands/lib/registry.ts'

const API = '/api/v1'

interface Failure {
  readonly code: string
  readonly message: string
}

/** Thrown when the server refuses a request; has the error code of its answer. */
export class ApiError extends Error {
  readonly code: string

  constructor({ code, message }: Failure) {
    super(message)
    this.code = code
  }
}

/** Runs a read-only command. */
export function readCommand<Name extends CommandName>(
  command: Name,
  input: Readonly<Record<string, string>> = {},
): Promise<CommandOutput<Name>> {
  const query = new URLSearchParams(input).toString()
  return readAnswer(fetch(`${pathOf(command)}${query === '' ? '' : `?${query}`}`))
}

/** Runs a command that changes state. Other sites cannot send the CSRF header. */
export function runCommand(command: string, input: object = {}): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json', 'X-Tireless-CSRF': '1' }
  return readAnswer(fetch(pathOf(command), { method: 'POST', headers, body: JSON.stringify(input) }))
}

export const login = (credentials: { readonly token: string } | { readonly code: string }): Promise<unknown> =>
  runCommand('login', credentials)

/** Contract: whether this browser is logged in; uses a request that causes no error in the console. */
export async function isLoggedIn(): Promise<boolean> {
  const { ok } = await readAnswer<{ readonly ok: boolean }>(fetch(pathOf('login')))
  return ok
}

/** Contract: the names of the server's commands. */
export async function listCommands(): Promise<ReadonlySet<string>> {
  const { paths } = await readAnswer<{ readonly paths: object }>(fetch(`${API}/openapi.json`))
  return new Set(Object.keys(paths).map((path) => path.slice(API.length + 1).replaceAll('/', ' ')))
}

export const EVENTS = `${API}/events`

const pathOf = (command: string): string => `${API}/${command.replaceAll(' ', '/')}`

async function readAnswer<T>(request: Promise<Response>): Promise<T> {
  const response = await request
  const body = (await response.json()) as T & { readonly error?: Failure }
  if (!response.ok) throw new ApiError(body.error ?? { code: 'internal', message: response.statusText })
  return body
}
