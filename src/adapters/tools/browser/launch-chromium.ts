/** Starts Chromium with its own profile, without downloads and service workers; the proxy is its only network. */

import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import type { Egress, EgressProxy } from '../../../ports/egress.ts'

const FLAGS = [
  ...[
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
  ...[
    '--disable-domain-reliability',
    '--dns-prefetch-disable',
    '--disable-breakpad',
    '--no-pings',
    '--disable-dev-shm-usage',
  ],
  // Blocks traffic around the proxy: no DNS lookups, no UDP.
  ...[
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ],
]

export interface BrowserLaunch {
  readonly egress: Egress
  /** Path of the program. */
  readonly chromium: string
  /** Holds the profiles. Profiles found there at start were left by a killed process. */
  readonly folder: string
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>
  /** Chromium's own sandbox does not work for root. */
  readonly isRoot: boolean
}

/** `folder`: Chromium writes only there. */
export async function launchContext(
  { chromium: executablePath, folder: own, env, isRoot }: Omit<BrowserLaunch, 'egress'>,
  proxy: EgressProxy,
): Promise<BrowserContext> {
  // Loaded only when needed, because it is large.
  const { chromium } = await import('playwright-core')
  return chromium.launchPersistentContext(join(own, 'profile'), {
    ...{ executablePath, headless: true, chromiumSandbox: !isRoot, args: FLAGS, env: { ...env, HOME: own } },
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false, artifactsDir: join(own, 'artifacts') },
    proxy: {
      server: `http://127.0.0.1:${proxy.port}`,
      bypass: '<-loopback>',
      username: proxy.user,
      password: proxy.password,
    },
    acceptDownloads: false,
    serviceWorkers: 'block',
    locale: 'en-GB',
    viewport: { width: 1280, height: 900 },
  })
}
