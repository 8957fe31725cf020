/** Test tools for plugin authors: `tireless/testing`. */

export { channelConformance } from './channel-conformance.ts'
export type { ChannelCase, ChannelPeer as OtherSide, VisibleMessage } from './channel-peer.ts'
export { type DocumentsCase, documentsConformance } from './documents-conformance.ts'
export { type EnvConformanceCase, envConformance } from './env-conformance.ts'
export { FakeClock } from './fake-clock.ts'
export { type ProviderOptions, type ProviderServer, type Script, startProviderServer } from './provider-server.ts'
export { type ScriptedAnswer, type ScriptedModel, scriptedModel } from './scripted-model.ts'
export { seededIds } from './seeded-ids.ts'
export { type ConformanceCase, storeConformance } from './store-conformance.ts'
