# Writes r.txt: vectors for the tests of this crate, from R.
#
#     Rscript from_r.R > r.txt
#
# The tests do not run this script. It uses nothing but R's own functions.

text <- function(values) paste(sprintf("%.17g", values), collapse = " ")
line <- function(kind, ...) {
  fields <- list(...)
  cat(kind, paste(names(fields), vapply(fields, text, ""), collapse = " | "), sep = " | ")
  cat("\n")
}

RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20261127)

for (i in 1:60) {
  a <- 100 * exp(rnorm(sample(2:9, 1), 0, 0.03))
  b <- 100 * exp(rnorm(sample(2:9, 1), sample(c(0, 0.05), 1), sample(c(0.03, 0.1), 1)))
  both <- t.test(log(b), log(a))
  line("welch", a = a, b = b, t = unname(both$statistic), freedom = unname(both$parameter),
       p = c(both$p.value, t.test(log(b), log(a), "greater")$p.value, t.test(log(b), log(a), "less")$p.value),
       interval = both$conf.int)
}

for (i in 1:20) {
  x <- log(100 * exp(rnorm(sample(3:9, 1), 0, 0.03)))
  new <- rnorm(1, log(100), 0.06)
  half <- diff(predict(lm(x ~ 1), data.frame(row.names = 1), interval = "prediction", level = 0.95)[1, 2:3]) / 2
  t <- (new - mean(x)) / (sd(x) * sqrt(1 + 1 / length(x)))
  line("predictive", a = exp(x), b = exp(new), p = 2 * pt(-abs(t), length(x) - 1), half = unname(half))
}

for (i in 1:60) {
  x <- rnorm(sample(2:12, 1))
  y <- rnorm(sample(2:12, 1), 0.5)
  line("shift", a = x, b = y, shift = unname(wilcox.test(y, x, conf.int = TRUE, exact = TRUE)$estimate))
}

for (i in 1:40) {
  p <- runif(sample(1:20, 1))^3
  if (i %% 4 == 0) p <- round(p, 1)
  line("adjust", p = p, holm = p.adjust(p, "holm"), fdr = p.adjust(p, "BH"))
}

for (freedom in c(1, 3, 4.4, 10, 18, 60, 200)) {
  for (t in c(1e-7, 0.001, 0.5, 2, 6, 30)) line("tail", freedom = freedom, t = t, p = 2 * pt(-t, freedom))
  for (p in c(1e-6, 0.05, 0.6, 0.975)) line("quantile", freedom = freedom, p = p, t = qt(p, freedom))
}

# The smallest number of runs per set whose detectable change is not above the wanted one.
for (i in 1:30) {
  a <- exp(rnorm(sample(2:6, 1), 0, 0.05))
  b <- exp(rnorm(2, 0, 0.05))
  n <- length(a)
  s <- sqrt((sum((log(a) - mean(log(a)))^2) + sum((log(b) - mean(log(b)))^2)) / n)
  detectable <- function(n, m) exp((qt(0.95, n + m - 2) + qt(0.8, n + m - 2)) * s * sqrt(1 / n + 1 / m)) - 1
  wanted <- sample(c(0.01, 0.03, 0.1), 1)
  runs <- 4
  while (detectable(runs, runs) > wanted) runs <- runs + 1
  line("power", a = a, b = b, detectable = detectable(n, 2), wanted = wanted, runs = runs)
}
