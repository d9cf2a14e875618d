// The part of Observable Plot that the report draws with; all else is shaken out of the bundle.
export {
  areaY,
  axisX,
  axisY,
  dot,
  gridY,
  lineY,
  plot,
  rectY,
  ruleX,
  ruleY,
  text,
  tickX,
} from "@observablehq/plot";
