/** Opens an address in the browser of the person at this terminal. */

import { spawn } from 'node:child_process'
import type { Clock } from '../../ports/clock.ts'

interface Desktop {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
  programAt(name: string): string | undefined
}

/** A program that still runs after this time has opened something. */
const WAIT_MS = 3000

/** Contract: pure apart from `programAt`; program and arguments, or undefined if there is no browser to open. */
export function browserCommand(url: string, { platform, env, programAt }: Desktop): readonly string[] | undefined {
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url]
  if (platform === 'darwin') return programAt('open') === undefined ? undefined : ['open', url]
  const hasDesktop = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME)
  const program = ['wslview', 'xdg-open'].find((name) => programAt(name) !== undefined)
  return hasDesktop && program !== undefined ? [program, url] : undefined
}

/** Contract: true if a browser was started; never throws, and does not wait until the browser is closed. */
export async function openBrowser(url: string, desktop: Desktop, clock: Clock): Promise<boolean> {
  const [program, ...args] = browserCommand(url, desktop) ?? []
  if (program === undefined) return false
  const env = desktop.env as NodeJS.ProcessEnv
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true, windowsHide: true })
  const done = new AbortController()
  const exit = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
  const isOpen = await Promise.race([exit, clock.sleep(WAIT_MS, done.signal).then(() => true)])
  done.abort()
  child.unref()
  return isOpen
}
