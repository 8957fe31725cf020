/** The places of the page by address. */

import { NeedsYou } from '../needs-you/needs-you.tsx'
import { Now } from '../now/now.tsx'
import { Talk } from '../talk/talk.tsx'
import type { Texts } from '../texts.ts'
import { lazyPlace, type Place } from './place.tsx'

export type PlaceName = keyof Texts['places']

interface Route {
  readonly pattern: string
  /** The entry of the navigation that the address belongs to. */
  readonly name: PlaceName
  readonly place: Place
}

const settings = lazyPlace(async () => (await import('../settings/settings.tsx')).Settings)

export const ROUTES: readonly Route[] = [
  { pattern: '/', name: 'talk', place: Talk },
  { pattern: '/needs-you', name: 'needs', place: NeedsYou },
  { pattern: '/now', name: 'now', place: Now },
  { pattern: '/runs', name: 'runs', place: lazyPlace(async () => (await import('../runs/runs.tsx')).Runs) },
  { pattern: '/runs/:id', name: 'runs', place: lazyPlace(async () => (await import('../runs/run.tsx')).Run) },
  { pattern: '/work', name: 'work', place: lazyPlace(async () => (await import('../work/board.tsx')).Board) },
  {
    ...{ pattern: '/work/sessions', name: 'work' },
    place: lazyPlace(async () => (await import('../work/sessions.tsx')).Sessions),
  },
  {
    ...{ pattern: '/work/sessions/:id', name: 'work' },
    place: lazyPlace(async () => (await import('../work/session.tsx')).SessionPlace),
  },
  { pattern: '/work/queue', name: 'work', place: lazyPlace(async () => (await import('../work/queue.tsx')).Queue) },
  {
    ...{ pattern: '/work/workspaces', name: 'work' },
    place: lazyPlace(async () => (await import('../work/workspaces.tsx')).Workspaces),
  },
  {
    ...{ pattern: '/work/workspaces/:id', name: 'work' },
    place: lazyPlace(async () => (await import('../work/workspace.tsx')).WorkspacePlace),
  },
  { pattern: '/agents', name: 'agents', place: lazyPlace(async () => (await import('../agents/agents.tsx')).Agents) },
  {
    pattern: '/agents/:id',
    name: 'agents',
    place: lazyPlace(async () => (await import('../agents/agent.tsx')).AgentPage),
  },
  ...memoryRoutes(),
  { pattern: '/costs', name: 'costs', place: lazyPlace(async () => (await import('../costs/costs.tsx')).Costs) },
  {
    pattern: '/reports',
    name: 'reports',
    place: lazyPlace(async () => (await import('../reports/reports.tsx')).Reports),
  },
  { pattern: '/settings', name: 'settings', place: settings },
  { pattern: '/settings/:part', name: 'settings', place: settings },
]

/** The places of memory share much of their code, so they are loaded together. */
function memoryRoutes(): readonly Route[] {
  const documents = () => import('../memory/document-places.tsx')
  const state = lazyPlace(async () => (await documents()).StatePlace)
  const places = {
    '/memory': state,
    '/memory/state': state,
    '/memory/goal': lazyPlace(async () => (await documents()).GoalPlace),
    '/memory/facts': lazyPlace(async () => (await import('../memory/facts.tsx')).Facts),
    '/memory/skills': lazyPlace(async () => (await import('../memory/skills.tsx')).Skills),
    '/memory/documents': lazyPlace(async () => (await import('../memory/documents.tsx')).Documents),
    '/memory/documents/:name': lazyPlace(async () => (await documents()).DocumentPlace),
  }
  return Object.entries(places).map(([pattern, place]) => ({ pattern, name: 'memory', place }))
}
