/** The public surface of the library. */

export { type App, type AppOptions, createApp } from './app.ts'
export type { CallResult, Decision, Next } from './domain/decision.ts'
export { type Dispatch, isTerminal } from './domain/dispatch.ts'
export type { Effect, Reach, Recovery } from './domain/effect.ts'
export { type ErrorCode, TirelessError } from './domain/error.ts'
export type { Event } from './domain/event.ts'
export { type RunTaskOptions, runTask, type TaskResult } from './library.ts'
export { defineTool } from './ports/define-tool.ts'
export type { Model } from './ports/model.ts'
export { definePlugin, type Plugin, type PluginHost, type Services } from './ports/plugin.ts'
export type { Store } from './ports/store.ts'
export type { Tool, ToolContext } from './ports/tool.ts'
