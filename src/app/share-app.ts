/** Shares one app among all tasks that a program runs in one home at a time: only one app can hold a home. */

import { resolve } from 'node:path'
import { type App, type AppOptions, createApp } from '../app.ts'
import { defaultHome } from '../config.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'

interface SharedApp {
  readonly options: AppOptions
  readonly app: Promise<App>
  users: number
  /** Set when the last user has left; never rejects. */
  closing?: Promise<void>
}

/** The open apps by home folder. */
const shared = new Map<string, SharedApp>()

export interface HeldApp {
  readonly app: App
  /** Contract: to be called once; resolves when the app is closed, if this was its last user. */
  release(): Promise<void>
}

/**
 * Contract: the app is open until it is released, and closes after its last user. Throws `conflict` if the app is
 * already open with other options.
 */
export async function holdApp(options: AppOptions): Promise<HeldApp> {
  const home = resolve(options.home ?? defaultHome())
  const own = await acquireApp(home, options)
  const release = async (): Promise<void> => {
    own.users -= 1
    if (own.users === 0) await closeApp(home, own)
  }
  try {
    return { app: await own.app, release }
  } catch (thrown) {
    await release()
    throw thrown
  }
}

/** Contract: the app is open while `work` runs; as for `holdApp`. */
export async function useApp<T>(options: AppOptions, work: (app: App) => Promise<T>): Promise<T> {
  const { app, release } = await holdApp(options)
  try {
    return await work(app)
  } finally {
    await release()
  }
}

async function acquireApp(home: string, options: AppOptions): Promise<SharedApp> {
  for (;;) {
    const open = shared.get(home)
    if (!open) break
    if (open.closing) await open.closing
    else {
      const option = findDifference(open.options, options)
      if (option !== undefined)
        throw new TirelessError('conflict', {
          what: 'another task of this program uses this home with other options',
          where: home,
          got: `another value of \`${option}\``,
          fix: 'pass the same objects to both, run them one after the other, or use two homes',
        })
      open.users += 1
      return open
    }
  }
  const own: SharedApp = { options, app: createApp(options).catch(explainLocked), users: 1 }
  shared.set(home, own)
  return own
}

/** A program cannot type commands, so the remedy names what it can do. */
function explainLocked(thrown: unknown): never {
  const error = asTirelessError(thrown)
  if (error.code !== 'home_locked') throw thrown
  throw new TirelessError('home_locked', {
    ...error.parts,
    fix:
      'send the task to the running process (`tireless enqueue`, or POST /api/v1/enqueue), ' +
      'stop it (`tireless stop`), or pass another `home`',
  })
}

async function closeApp(home: string, own: SharedApp): Promise<void> {
  const closed = own.app.then((app) => app.close())
  own.closing = closed.then(
    () => void shared.delete(home),
    () => void shared.delete(home),
  )
  // If the app never opened, the users already have the error.
  const app = await own.app.catch(() => undefined)
  if (app) await closed
  await own.closing
}

/** The name of the first option that differs; `home` is not compared. */
function findDifference(first: AppOptions, second: AppOptions): string | undefined {
  const keys = new Set([...Object.keys(first), ...Object.keys(second)] as (keyof AppOptions)[])
  return [...keys].find((key) => key !== 'home' && !isSame(first[key], second[key]))
}

/** Functions are compared by identity, because they cannot be compared by what they do. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return Object.is(one, other)
  return one.length === other.length && one.every((item, i) => Object.is(item, other[i]))
}
