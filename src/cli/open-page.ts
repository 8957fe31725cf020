/** Opens the page in the browser of the person who typed the command; the kernel may run without a desktop. */

import { openBrowser } from '../adapters/system/browser.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { findProgram } from '../adapters/system/machine.ts'
import { environment } from '../config/environment.ts'

/** Contract: the output of `open`, with `opened` true if a browser was started. Without a terminal none is. */
export async function openPage(output: unknown): Promise<unknown> {
  const { login_url } = output as { readonly login_url: string }
  if (process.stdout.isTTY !== true) return output
  const env = environment()
  const programAt = (name: string): string | undefined => findProgram(name, env.PATH ?? '')
  const opened = await openBrowser(login_url, { platform: process.platform, env, programAt }, systemClock)
  return { ...(output as object), opened }
}
