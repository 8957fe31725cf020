/** Client of the server's API: runs commands by name, with the types of their schemas. */

import type { CommandInput, CommandName, CommandOutput } from '../../src/commands/lib/registry.ts'
import { CHECKS, isObject } from './check-answers.ts'

const API = '/api/v1'

interface Failure {
  readonly code: string
  readonly message: string
  readonly parts?: FailureParts
}

/** What happened, where, what was received and expected, what to do. */
interface FailureParts {
  readonly what: string
  readonly got?: string
  readonly expected?: string
}

/** Thrown when the server refuses a request; has the error code of its answer. */
export class ApiError extends Error {
  readonly code: string
  readonly parts: FailureParts

  constructor({ code, message, parts = { what: message } }: Failure) {
    super(message)
    this.code = code
    this.parts = parts
  }
}

/** Contract: whether the login is missing or expired. */
export const isUnauthorized = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.code === 'unauthorized'

/** Runs a read-only command. */
export function readCommand<Name extends CommandName>(
  command: Name,
  input?: CommandInput<Name>,
): Promise<CommandOutput<Name>> {
  const given = Object.entries(input ?? {}).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)])).toString()
  return readAnswer(fetch(`${pathOf(command)}${query === '' ? '' : `?${query}`}`), CHECKS[command] ?? isObject)
}

/** Runs a command that changes state. */
export const runCommand = <Name extends CommandName>(
  command: Name,
  input: CommandInput<Name>,
): Promise<CommandOutput<Name>> => post(command, input)

/** Other sites cannot send the CSRF header. */
function post<T>(command: string, input: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json', 'X-Tireless-CSRF': '1' }
  return readAnswer<T>(fetch(pathOf(command), { method: 'POST', headers, body: JSON.stringify(input) }))
}

export const login = (credentials: { readonly token: string } | { readonly code: string }): Promise<unknown> =>
  post('login', credentials)

/** Contract: whether this browser is logged in; uses a request that causes no error in the console. */
export async function isLoggedIn(): Promise<boolean> {
  const { ok } = await readAnswer<{ readonly ok: boolean }>(fetch(pathOf('login')))
  return ok
}

export const EVENTS = `${API}/events`

const pathOf = (command: string): string => `${API}/${command.replaceAll(' ', '/')}`

/** Throws if the answer is not of this server, but for example of a proxy. */
async function readAnswer<T>(
  request: Promise<Response>,
  isAnswer: (body: unknown) => boolean = () => true,
): Promise<T> {
  const response = await request
  const body: unknown = await response.json()
  if (!response.ok) throw new ApiError(failureIn(body) ?? { code: 'internal', message: response.statusText })
  if (!isAnswer(body)) throw new TypeError(`unexpected answer from ${response.url}`)
  return body as T
}

const failureIn = (body: unknown): Failure | undefined =>
  isObject(body) && isObject(body.error) && typeof body.error.message === 'string'
    ? (body.error as unknown as Failure)
    : undefined
