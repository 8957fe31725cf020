/** What the page asks of the server: the commands, by their names. */

const API = '/api/v1'

export interface Failure {
  readonly code: string
  readonly message: string
}

/** Thrown where the server refuses; `code` is the one of its answer. */
export class Refused extends Error {
  readonly code: string

  constructor({ code, message }: Failure) {
    super(message)
    this.code = code
  }
}

/** A command that changes nothing. */
export function ask<T>(command: string, input: Readonly<Record<string, string>> = {}): Promise<T> {
  const query = new URLSearchParams(input).toString()
  return answered<T>(fetch(`${pathOf(command)}${query === '' ? '' : `?${query}`}`))
}

/** A command that changes something. The header is one that a page of another site cannot send. */
export function act<T>(command: string, input: object = {}): Promise<T> {
  const headers = { 'Content-Type': 'application/json', 'X-Tireless-CSRF': '1' }
  return answered<T>(fetch(pathOf(command), { method: 'POST', headers, body: JSON.stringify(input) }))
}

export const login = (shown: { readonly token: string } | { readonly code: string }): Promise<unknown> =>
  act('login', shown)

/** Contract: whether the server knows this browser; asked for without a refusal, which every console would show. */
export const isIn = async (): Promise<boolean> => (await ask<{ readonly ok: boolean }>('login')).ok

/** Contract: the names of the commands that this server has. */
export async function offered(): Promise<ReadonlySet<string>> {
  const { paths } = await answered<{ readonly paths: object }>(fetch(`${API}/openapi.json`))
  return new Set(Object.keys(paths).map((path) => path.slice(API.length + 1).replaceAll('/', ' ')))
}

export const EVENTS = `${API}/events`

const pathOf = (command: string): string => `${API}/${command.replaceAll(' ', '/')}`

async function answered<T>(asking: Promise<Response>): Promise<T> {
  const response = await asking
  const body = (await response.json()) as T & { readonly error?: Failure }
  if (!response.ok) throw new Refused(body.error ?? { code: 'internal', message: response.statusText })
  return body
}
