"""formats: how do packed bytes become text, trees and rows, within a cap?"""
