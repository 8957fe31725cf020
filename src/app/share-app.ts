/** One app for all tasks that a program runs in one home at the same time: only one can hold a home, and they need not wait for each other. */

import { resolve } from 'node:path'
import { type App, type AppOptions, createApp } from '../app.ts'
import { defaultHome } from '../config.ts'
import { TirelessError } from '../domain/error.ts'

interface SharedApp {
  readonly options: AppOptions
  readonly app: Promise<App>
  users: number
  /** Set once the last user has gone; never rejects. */
  closing?: Promise<void>
}

/** By their homes. */
const shared = new Map<string, SharedApp>()

/** Contract: the app is open while `work` runs, and closed when nobody uses it any more; `conflict` where it is open with other options. */
export async function useApp<T>(options: AppOptions, work: (app: App) => Promise<T>): Promise<T> {
  const home = resolve(options.home ?? defaultHome())
  const own = await enter(home, options)
  try {
    return await work(await own.app)
  } finally {
    own.users -= 1
    if (own.users === 0) await closeApp(home, own)
  }
}

async function enter(home: string, options: AppOptions): Promise<SharedApp> {
  for (;;) {
    const open = shared.get(home)
    if (!open) break
    if (open.closing) await open.closing
    else {
      const different = differenceOf(open.options, options)
      if (different !== undefined)
        throw new TirelessError('conflict', {
          what: 'another task of this program runs in this home with other options',
          where: home,
          got: `another value of \`${different}\``,
          fix: 'hand both the same objects, run one after the other, or give each a home of its own',
        })
      open.users += 1
      return open
    }
  }
  const own: SharedApp = { options, app: createApp(options), users: 1 }
  shared.set(home, own)
  return own
}

async function closeApp(home: string, own: SharedApp): Promise<void> {
  const closed = own.app.then((app) => app.close())
  own.closing = closed.then(
    () => void shared.delete(home),
    () => void shared.delete(home),
  )
  // One that never opened has said so already.
  const app = await own.app.catch(() => undefined)
  if (app) await closed
  await own.closing
}

/** The first option that is not the same; the home is. */
function differenceOf(some: AppOptions, others: AppOptions): string | undefined {
  const keys = new Set([...Object.keys(some), ...Object.keys(others)] as (keyof AppOptions)[])
  return [...keys].find((key) => key !== 'home' && !isSame(some[key], others[key]))
}

/** Parts are the same where they are the same objects: what two functions do cannot be compared. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return Object.is(one, other)
  return one.length === other.length && one.every((item, i) => Object.is(item, other[i]))
}
