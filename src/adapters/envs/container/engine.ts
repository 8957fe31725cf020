/** The engine that runs containers: the command line of Docker or Podman, where it is installed, answers, and has the image. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isProgram } from '../host/launch.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Engine {
  readonly name: 'docker' | 'podman'
  readonly program: string
  readonly version: string
  /** The file with the system calls that it lets containers make, where that is too many. */
  readonly filter: string | undefined
  /** What the command line itself is given of our environment; none of it is seen inside. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: what it said; rejects with what it complained about. */
  ask(...args: readonly string[]): Promise<string>
}

export interface NoEngine {
  readonly why: string
  readonly remedy: string
}

/** Its own settings, and where programs are. */
const HARMLESS =
  /^(PATH|HOME|LANG|USER|XDG_[A-Z]+_(DIR|HOME)|DBUS_SESSION_BUS_ADDRESS|DOCKER_[A-Z_]+|CONTAINERS?_[A-Z_]+)$/
const ASKED_MS = 30_000
const ABOUT = {
  docker: '{{.ServerVersion}} {{.SecurityOptions}}',
  podman: '{{.Version.Version}} {{.Host.Security.SECCOMPProfilePath}}',
} as const

/** Contract: the first that answers and has the image; never throws. */
export async function findEngine(image: string, environment: Environment): Promise<Engine | NoEngine> {
  const env = harmless(environment)
  const missing: NoEngine[] = []
  for (const name of ['docker', 'podman'] as const) {
    const program = (env.PATH ?? '')
      .split(':')
      .map((folder) => join(folder, name))
      .find(isProgram)
    if (program === undefined) continue
    const found = await engineAt(name, program, env, image)
    if (!('why' in found)) return found
    missing.push(found)
  }
  const none = { why: 'neither docker nor podman is installed', remedy: 'install one of them' }
  return missing.length === 0
    ? none
    : { why: missing.map(({ why }) => why).join('; '), remedy: missing.map(({ remedy }) => remedy).join(', or: ') }
}

async function engineAt(
  name: Engine['name'],
  program: string,
  env: Engine['env'],
  image: string,
): Promise<Engine | NoEngine> {
  const ask = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, args, { env, cwd: '/', timeout: ASKED_MS })
    return stdout.trim()
  }
  try {
    const [version = '', more = ''] = (await ask('info', '--format', ABOUT[name])).split(/ (.*)/s)
    if (name === 'docker' && more.includes('name=rootless'))
      return { why: 'docker runs without root: its containers write as somebody else', remedy: 'use podman there' }
    const engine: Engine = { name, program, version, filter: name === 'podman' ? more : undefined, env, ask }
    return await ask('image', 'inspect', '--format', '{{.Id}}', image).then(
      () => engine,
      () => ({ why: `${name} has no image ${image}`, remedy: `${name} pull ${image}` }),
    )
  } catch (thrown) {
    return { why: `the engine of ${name} does not answer: ${complaintOf(thrown)}`, remedy: `see: ${name} info` }
  }
}

/** The last line that a program has complained with. */
export function complaintOf(thrown: unknown): string {
  const { stderr = '', message = String(thrown) } = thrown as { stderr?: string; message?: string }
  return (stderr.trim() === '' ? message : stderr).trim().split('\n').at(-1) ?? ''
}

function harmless(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && HARMLESS.test(entry[0]),
    ),
  )
}
